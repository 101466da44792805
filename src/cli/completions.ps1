using namespace System.Management.Automation

Register-ArgumentCompleter -Native -CommandName 'vanity-ed25519' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    # The name of an option, its values or FILE, and its help, between tabs.
    $options = @'
@OPTIONS@
'@ -split '\r?\n'
    $before = "$($commandAst.CommandElements.Where{ $_.Extent.EndOffset -lt $cursorPosition } | Select-Object -Last 1)"
    $name, $start = '', $wordToComplete
    if ($wordToComplete -match '^(--[a-z-]+)=(.*)$') {
        $before, $name, $start = $Matches[1], "$($Matches[1])=", $Matches[2]
    }
    foreach ($option in $options) {
        $text, $values, $help = $option -split "`t"
        if ($text -cne $before -or $values -eq '') {
            continue
        }
        # Without an answer, PowerShell offers files.
        if ($values -eq 'FILE') {
            return
        }
        return ($values -split ' ').Where{ $_ -like "$start*" }.ForEach{
            [CompletionResult]::new("$name$_", $_, [CompletionResultType]::ParameterValue, $_)
        }
    }
    foreach ($option in $options) {
        $text, $values, $help = $option -split "`t"
        if ($text -like "$wordToComplete*") {
            [CompletionResult]::new($text, $text, [CompletionResultType]::ParameterName, $help)
        }
    }
}
