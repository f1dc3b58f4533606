/** The state of signing in, and what the user is asked about it. */

/** A failure that the sign-in page explains. */
export interface SignInProblem {
  code: string;
  message: string;
  /** The link is kept: it may work when it is tried again. */
  hasLink?: boolean;
  /** This phone's former device id, which should be revoked because the check words differ. */
  deviceId?: string;
}

export type SignIn =
  | { kind: "restoring" }
  | { kind: "out"; problem?: SignInProblem }
  /** `isAgain`: the relay has not answered, and the request is repeated. */
  | { kind: "busy"; how: "key" | "pair"; isAgain?: boolean }
  | { kind: "in" };

/** The result of a pairing, until the user has dismissed it. */
export type PairingResult =
  | { kind: "words"; deviceId: string; host: string; words: readonly string[] }
  | { kind: "failed" } & SignInProblem;

/** A link would sign the phone in to another account: nothing changes until the user has decided. */
export interface AccountSwap {
  from: string;
  to: string;
}
