(quote λόγος) ; => λόγος
'(Éclair éclair) ; => (Éclair éclair)