//! Access lists of files and directories, in the text form of Windows (SDDL).
//!
//! `O:S-1-5-21-…D:P(A;;FA;;;S-1-5-21-…)` means: the owner is this user, the list does not inherit
//! entries from the directory (`P`), and its one entry allows (`A`) this user all access (`FA`).

use std::ffi::{OsString, c_void};
use std::fs::File;
use std::io;
use std::os::windows::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::Path;
use std::ptr::{null_mut, slice_from_raw_parts};
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::{
    ERROR_SUCCESS, GENERIC_READ, GENERIC_WRITE, INVALID_HANDLE_VALUE, LocalFree,
};
use windows_sys::Win32::Security::Authorization::{
    ConvertSecurityDescriptorToStringSecurityDescriptorW, ConvertSidToStringSidW,
    ConvertStringSecurityDescriptorToSecurityDescriptorW, GetSecurityInfo, SDDL_REVISION_1, SE_FILE_OBJECT,
};
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, GetTokenInformation, OWNER_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR,
    SECURITY_ATTRIBUTES, TOKEN_QUERY, TOKEN_USER, TokenUser,
};
use windows_sys::Win32::Storage::FileSystem::{
    CREATE_NEW, CreateDirectoryW, CreateFileW, FILE_ATTRIBUTE_NORMAL, FILE_SHARE_DELETE, FILE_SHARE_READ,
    FILE_SHARE_WRITE,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// The most characters of a path that every call accepts. A directory's name can have 247.
const SHORT: usize = 240;

/// Memory that the system has allocated for its caller.
struct Allocated(*mut c_void);

impl Drop for Allocated {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from a call whose result the caller frees with this one.
        unsafe { LocalFree(self.0) };
    }
}

impl Allocated {
    /// Returns the text that the memory holds.
    ///
    /// # Safety
    ///
    /// The memory holds UTF-16 that ends with a zero.
    unsafe fn text(&self) -> String {
        let start = self.0.cast::<u16>().cast_const();
        // SAFETY: the text has a zero at its end, which ends the count.
        let len = (0..).take_while(|&at| unsafe { *start.add(at) } != 0).count();
        // SAFETY: these units were just read.
        String::from_utf16_lossy(unsafe { &*slice_from_raw_parts(start, len) })
    }
}

/// Turns the result of a call into an error if it is 0.
fn check(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns UTF-16 with a zero at its end.
fn wide(text: &std::ffi::OsStr) -> io::Result<Vec<u16>> {
    let mut wide: Vec<u16> = text.encode_wide().collect();
    if wide.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a path contains a zero"));
    }
    wide.push(0);
    Ok(wide)
}

/// Returns a path for the calls below. They accept a long one only if it is absolute and begins
/// with `\\?\`.
fn wide_path(path: &Path) -> io::Result<Vec<u16>> {
    let absolute = std::path::absolute(path)?;
    if absolute.as_os_str().len() <= SHORT {
        return wide(path.as_os_str());
    }
    let bytes = absolute.as_os_str().as_encoded_bytes();
    let mut long = OsString::new();
    if bytes.starts_with(br"\\?\") || bytes.starts_with(br"\\.\") {
        long.push(&absolute);
    } else if bytes.starts_with(br"\\") {
        // A share of another machine: one of the two characters goes after the prefix.
        long.push(r"\\?\UNC");
        long.push(OsString::from_wide(&absolute.as_os_str().encode_wide().skip(1).collect::<Vec<u16>>()));
    } else {
        long.push(r"\\?\");
        long.push(&absolute);
    }
    wide(&long)
}

/// Returns the user of this process, as text (`S-1-5-21-…`).
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn current_user() -> io::Result<&'static str> {
    static USER: OnceLock<String> = OnceLock::new();
    if let Some(user) = USER.get() {
        return Ok(user);
    }
    let mut token = null_mut();
    // SAFETY: the first handle is a constant of the system, and the place for the second is ours.
    check(unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) })?;
    // SAFETY: the call has opened the handle for us alone.
    let token = unsafe { OwnedHandle::from_raw_handle(token) };
    // 16 bytes, and a SID of at most 68. The unit gives the alignment of a pointer.
    let mut user = [0u64; 16];
    let mut len = 0;
    // SAFETY: the buffer is ours, and the call gets its size.
    check(unsafe {
        GetTokenInformation(
            token.as_raw_handle(),
            TokenUser,
            user.as_mut_ptr().cast(),
            size_of_val(&user) as u32,
            &raw mut len,
        )
    })?;
    // SAFETY: the call has written this structure to the beginning of the buffer, which is aligned.
    let sid = unsafe { (*user.as_ptr().cast::<TOKEN_USER>()).User.Sid };
    let mut text = null_mut();
    // SAFETY: the SID is in the buffer, which still exists.
    check(unsafe { ConvertSidToStringSidW(sid, &raw mut text) })?;
    let text = Allocated(text.cast());
    // SAFETY: the call has written a text with a zero at its end.
    let text = unsafe { text.text() };
    Ok(USER.get_or_init(|| text))
}

/// Returns the descriptor that a text describes.
fn descriptor(sddl: &str) -> io::Result<Allocated> {
    let sddl = wide(sddl.as_ref())?;
    let mut descriptor: PSECURITY_DESCRIPTOR = null_mut();
    // SAFETY: the text ends with a zero, and the place for the pointer is ours.
    check(unsafe {
        ConvertStringSecurityDescriptorToSecurityDescriptorW(
            sddl.as_ptr(),
            SDDL_REVISION_1,
            &raw mut descriptor,
            null_mut(),
        )
    })?;
    Ok(Allocated(descriptor))
}

/// Returns the argument with which a new file or directory gets this descriptor. Programs that this
/// process starts do not inherit its handle.
fn attributes(descriptor: &Allocated) -> SECURITY_ATTRIBUTES {
    SECURITY_ATTRIBUTES {
        nLength: size_of::<SECURITY_ATTRIBUTES>() as u32,
        lpSecurityDescriptor: descriptor.0,
        bInheritHandle: 0,
    }
}

/// Creates a file that only the user of this process can access, from the moment it exists. Opens
/// it to read and write.
///
/// # Errors
///
/// Returns the error of the operating system: [`io::ErrorKind::AlreadyExists`] for an existing
/// name.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    let user = current_user()?;
    create_file_with(path, &format!("O:{user}D:P(A;;FA;;;{user})"))
}

/// Creates a file with this owner and access list.
pub(crate) fn create_file_with(path: &Path, sddl: &str) -> io::Result<File> {
    let path = wide_path(path)?;
    let descriptor = descriptor(sddl)?;
    // SAFETY: the path ends with a zero. It and the descriptor live until the call returns.
    let handle = unsafe {
        CreateFileW(
            path.as_ptr(),
            GENERIC_READ | GENERIC_WRITE,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
            &attributes(&descriptor),
            CREATE_NEW,
            FILE_ATTRIBUTE_NORMAL,
            null_mut(),
        )
    };
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has opened the handle for us alone.
    Ok(File::from(unsafe { OwnedHandle::from_raw_handle(handle) }))
}

/// Creates a directory that only the user of this process can access, and whose files and
/// directories inherit that.
///
/// # Errors
///
/// Returns the error of the operating system: [`io::ErrorKind::AlreadyExists`] for an existing
/// name.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    let user = current_user()?;
    let path = wide_path(path)?;
    let descriptor = descriptor(&format!("O:{user}D:P(A;OICI;FA;;;{user})"))?;
    // SAFETY: the path ends with a zero. It and the descriptor live until the call returns.
    check(unsafe { CreateDirectoryW(path.as_ptr(), &attributes(&descriptor)) })
}

/// Returns the owner and the access list of a file, in the text form.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn access_list(file: &File) -> io::Result<String> {
    let what = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
    let mut descriptor: PSECURITY_DESCRIPTOR = null_mut();
    // SAFETY: the handle is open, and the place for the pointer is ours.
    let error = unsafe {
        GetSecurityInfo(
            file.as_raw_handle(),
            SE_FILE_OBJECT,
            what,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            &raw mut descriptor,
        )
    };
    if error != ERROR_SUCCESS {
        return Err(io::Error::from_raw_os_error(error.cast_signed()));
    }
    text_of(&Allocated(descriptor))
}

/// Returns the text form of a descriptor.
fn text_of(descriptor: &Allocated) -> io::Result<String> {
    let what = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
    let mut text = null_mut();
    // SAFETY: the descriptor is complete, and the place for the pointer is ours.
    check(unsafe {
        ConvertSecurityDescriptorToStringSecurityDescriptorW(
            descriptor.0,
            SDDL_REVISION_1,
            what,
            &raw mut text,
            null_mut(),
        )
    })?;
    let text = Allocated(text.cast());
    // SAFETY: the call has written a text with a zero at its end.
    Ok(unsafe { text.text() })
}

/// Returns the user of this process as [`access_list`] names it. Some users have a short name
/// there.
///
/// # Errors
///
/// Returns the error of the operating system.
pub(crate) fn user_in_lists() -> io::Result<String> {
    let text = text_of(&descriptor(&format!("O:{}", current_user()?))?)?;
    Ok(text.trim_start_matches("O:").to_owned())
}
