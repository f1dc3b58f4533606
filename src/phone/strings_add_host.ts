/** The English texts of adding a host: loaded with their view. */

export const ADD_HOST_STRINGS = {
  heading: "Add a host",
  back: "Settings",
  lead: "Run this on the computer where your agents are, then scan the code that it shows.",
  command: "svc pair",
  scan: "Scan the QR code",
  stop: "Stop the camera",
  aim: "Point the camera at the QR code.",
  notALink: "That code is not a pairing link from svc.",
  pasteLabel: "Pairing link",
  pasteHint: "Or paste the link below the code.",
  pair: "Pair",
  wrongLink: "This is not a pairing link. It starts with http and contains #pair=.",
  otherRelay: (relay: string) => `This link belongs to another relay, ${relay}. Open it in the browser.`,
  /** Why there is no picture from the camera; `unsupported` includes a page without https. */
  camera: {
    unsupported: "This page has no access to a camera: that needs https. Paste the link instead.",
    denied: "The browser may not use the camera. Allow it in the browser's settings, or paste the link.",
    no_camera: "No camera was found. Paste the link instead.",
  },
} as const;
