use str

set edit:completion:arg-completer[vanity-ed25519] = {|@words|
    # The name of an option, its values or FILE, and its help, between tabs.
    var options = [(each {|row| put [(str:split "\t" $row)] } [(str:split "\n" '@OPTIONS@')])]
    var before = $words[-2]
    var name = ''
    if (and (str:has-prefix $words[-1] '--') (str:contains $words[-1] '=')) {
        set before = $words[-1][0..(str:index $words[-1] '=')]
        set name = $before'='
    }
    var is-value = $false
    for option $options {
        if (and (eq $option[0] $before) (not-eq $option[1] '')) {
            set is-value = $true
            if (eq $option[1] FILE) {
                edit:complete-filename $@words
            } else {
                for value [(str:split ' ' $option[1])] { put $name$value }
            }
        }
    }
    if (not $is-value) {
        for option $options { edit:complex-candidate $option[0] &display=$option[0]'  '$option[2] }
    }
}
