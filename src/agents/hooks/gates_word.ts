/** The last argument of a hook's command in a registration that has the gate's events: an older registration lacks it. */
export const GATES_WORD = "gates";
