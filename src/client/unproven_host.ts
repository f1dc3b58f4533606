/** The error of a pairing whose host is not proven, apart from the pairing itself, which loads more. */

/** The host's key was not proven by whoever showed the QR code: the relay is lying, or the link is forged. */
export class UnprovenHost extends Error {
  override name = "UnprovenHost";
}
