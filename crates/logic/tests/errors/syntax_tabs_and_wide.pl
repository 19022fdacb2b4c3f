	% 注釈
	move(X, '大きい部屋') :-	top(X), on(X, "見").
