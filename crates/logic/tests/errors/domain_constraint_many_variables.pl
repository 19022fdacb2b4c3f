:- action(up).
:- state(at/1).
false :- at(X0), at(X1), at(X2), at(X3), at(X4), at(X5), at(X6), at(X7), at(X8), at(X9), at(X10), at(X11), at(X12), at(X13), at(X14), at(X15), at(X16), at(X17), at(X18), at(X19), at(X20), at(X21), at(X22), at(X23), at(X24), at(X25), at(X26), at(X27), at(X28), at(X29), at(X30), at(X31), at(X32).
