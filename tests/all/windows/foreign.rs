//! Foreign calls of the tests: an event of the console, a file that everyone can read, and a server
//! behind a named pipe. The standard library has none of them.

#![allow(unsafe_code, reason = "foreign calls")]

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex};

use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::Security::Authorization::{
    ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::SECURITY_ATTRIBUTES;
use windows_sys::Win32::Storage::FileSystem::PIPE_ACCESS_DUPLEX;
use windows_sys::Win32::Storage::FileSystem::{CREATE_NEW, CreateFileW, FILE_ATTRIBUTE_NORMAL};
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
use windows_sys::Win32::System::Pipes::{ConnectNamedPipe, CreateNamedPipeW, PIPE_UNLIMITED_INSTANCES};
pub use windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP as NEW_GROUP;

/// The messages of the agent's protocol.
const SUCCESS: u8 = 6;
const LIST: u8 = 11;
const ANSWER: u8 = 12;
const ADD: u8 = 17;

fn wide(text: impl AsRef<OsStr>) -> Vec<u16> {
    text.as_ref().encode_wide().chain([0]).collect()
}

/// Whether a group of processes can get Ctrl-Break. Wine does not send it, and without a console
/// there are no events.
pub fn has_break() -> bool {
    !is_wine() && File::open("CONIN$").is_ok()
}

/// Wine is told by its variables. A Windows machine has none of them.
pub fn is_wine() -> bool {
    std::env::var_os("WINEPREFIX").is_some()
}

/// Sends Ctrl-Break to a group of processes.
pub fn send_break(group: u32) {
    // SAFETY: the call has no pointers.
    let sent = unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, group) };
    assert_ne!(sent, 0, "{}", std::io::Error::last_os_error());
}

/// Creates a file that everyone can read.
pub fn create_for_everyone(path: &Path) -> File {
    let mut descriptor = null_mut();
    let sddl = wide("D:P(A;;FA;;;WD)");
    // SAFETY: the text ends with a zero, and the place for the pointer is ours.
    let made = unsafe {
        ConvertStringSecurityDescriptorToSecurityDescriptorW(
            sddl.as_ptr(),
            SDDL_REVISION_1,
            &raw mut descriptor,
            null_mut(),
        )
    };
    assert_ne!(made, 0);
    let attributes = SECURITY_ATTRIBUTES {
        nLength: size_of::<SECURITY_ATTRIBUTES>() as u32,
        lpSecurityDescriptor: descriptor,
        bInheritHandle: 0,
    };
    const GENERIC_WRITE: u32 = 0x4000_0000;
    // SAFETY: the path ends with a zero. It and the descriptor live until the call returns.
    let handle = unsafe {
        CreateFileW(
            wide(path).as_ptr(),
            GENERIC_WRITE,
            0,
            &attributes,
            CREATE_NEW,
            FILE_ATTRIBUTE_NORMAL,
            null_mut(),
        )
    };
    assert_ne!(handle, INVALID_HANDLE_VALUE, "{}", std::io::Error::last_os_error());
    // SAFETY: the call has opened the handle for us alone.
    File::from(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Starts an agent behind a named pipe. It ends with the tests. Returns the blobs of its keys.
pub fn agent(pipe: &str) -> Arc<Mutex<Vec<Vec<u8>>>> {
    let keys = Arc::<Mutex<Vec<Vec<u8>>>>::default();
    let (held, pipe) = (Arc::clone(&keys), wide(pipe));
    let instance = move || {
        // SAFETY: the name ends with a zero and lives until the call returns.
        let handle = unsafe {
            CreateNamedPipeW(
                pipe.as_ptr(),
                PIPE_ACCESS_DUPLEX,
                0,
                PIPE_UNLIMITED_INSTANCES,
                4096,
                4096,
                0,
                null(),
            )
        };
        assert_ne!(handle, INVALID_HANDLE_VALUE, "{}", std::io::Error::last_os_error());
        // SAFETY: the call has opened the handle for us alone.
        File::from(unsafe { OwnedHandle::from_raw_handle(handle) })
    };
    let mut next = instance();
    std::thread::spawn(move || {
        loop {
            // SAFETY: the handle is open, and the call waits.
            unsafe { ConnectNamedPipe(next.as_raw_handle(), null_mut()) };
            // The name must always have an instance that waits.
            let mut connection = std::mem::replace(&mut next, instance());
            let held = Arc::clone(&held);
            std::thread::spawn(move || {
                while let Some(message) = read(&mut connection) {
                    let body = answer(&message, &mut held.lock().unwrap());
                    let length = (body.len() as u32).to_be_bytes();
                    connection.write_all(&[&length[..], &body].concat()).unwrap();
                }
            });
        }
    });
    keys
}

fn read(connection: &mut File) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    connection.read_exact(&mut length).ok()?;
    let mut message = vec![0; u32::from_be_bytes(length) as usize];
    connection.read_exact(&mut message).ok()?;
    Some(message)
}

/// Returns what an agent answers that keeps every key.
fn answer(message: &[u8], keys: &mut Vec<Vec<u8>>) -> Vec<u8> {
    match message[0] {
        LIST => {
            let mut body = [&[ANSWER][..], &(keys.len() as u32).to_be_bytes()].concat();
            for key in keys.iter() {
                body.extend([&(key.len() as u32).to_be_bytes()[..], key, &[0; 4]].concat());
            }
            return body;
        }
        // The algorithm and the public key of an added key are its blob.
        ADD => keys.push(message[1..52].to_vec()),
        _ => {}
    }
    vec![SUCCESS]
}
