/** The English texts of notifications and of their settings, for their view and for the service worker. */
import type { RingKind } from "../protocol/web_push.ts";

export const NOTIFICATION_STRINGS = {
  notification: {
    /** The title of a question; its text is the body. */
    asks: (session: string) => `${session} asks`,
    /** The title of a request for permission. */
    wantsPermission: (session: string) => `${session} asks for permission`,
    /** Titles used when the text is not for this phone, or has not arrived yet. */
    titles: {
      ask: "A question for you",
      "agent.attention": "An agent waits for you",
      "agent.stop": "An agent has finished",
      note: "A note from an agent",
    } satisfies Record<RingKind, string>,
    note: "Note",
    answered: "Answered",
    unknown: "Something is new",
    test: "Notifications work",
    testSealed: "The text was encrypted for this phone and opened on it.",
    testPlain: "This phone is not paired with a host, so notifications come without their text.",
  },
  notifications: {
    heading: "Notifications",
    link: "Notifications",
    back: "Settings",
    lead: "Questions, dialogs, finished turns and notes reach this phone while the app is closed.",
    on: "Switch on",
    turningOn: "Switching on…",
    off: "Switch off on this phone",
    isOn: "On",
    isOff: "Off",
    /** Why this browser cannot receive notifications. */
    why: {
      insecure:
        "Browsers allow notifications only on https. Open the relay by an https address; svc up names the one that works.",
      install:
        "On iPhone and iPad, notifications come only to apps on the home screen. Tap Share, then “Add to Home Screen”, and open svc from there.",
      unsupported:
        "This browser cannot receive notifications. Chrome, Edge and Firefox on Android and on computers can, and so can Safari from version 16.4.",
      denied:
        "Notifications are blocked for this page. Allow them in the browser's settings for this site, then open this page again.",
    },
    noWorker:
      "The part of svc that receives notifications did not load. Check the network, reload the page and try again.",
    problem: (why: string) => `That did not work: ${why}`,
    kindsHeading: "What rings",
    kinds: {
      ask: "Questions",
      "agent.attention": "Dialogs that wait for you",
      "agent.stop": "Finished turns",
      note: "Notes",
    } satisfies Record<RingKind, string>,
    quietHeading: "Quiet hours",
    quiet: "Do not ring at night",
    from: "From",
    to: "To",
    quietHint: (zone: string) => `Time zone: ${zone}. What comes meanwhile is in the inbox.`,
    sessionsHeading: "For one session",
    sessionsNone: "No session is running.",
    sessionState: (off: number) => off === 0 ? "Rings" : "Rings for some",
    sessionSilent: "Silent",
    testHeading: "Test",
    test: "Send a test",
    testing: "Sending…",
    testSteps: {
      relay: (ms: number) => `The relay took it in ${ms} ms`,
      relayFailed: (why: string) => `The relay did not take it: ${why}`,
      vendor: (ms: number) => `The browser's push service accepted it in ${ms} ms`,
      vendorFailed: (why: string) => `The browser's push service did not accept it: ${why}`,
      opened: (ms: number) => `This phone got it after ${ms} ms`,
      sealed: "Its text was encrypted, and opened here",
      plain: "It had no text: this phone is not paired with a host",
      shown: (ms: number) => `The notification was shown after ${ms} ms`,
      waiting: "Waiting for it to arrive…",
    },
  },
} as const;
