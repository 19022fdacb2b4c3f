:- environment("blocks").
