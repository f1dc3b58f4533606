/** The English texts of what is managed from a phone: the list of hosts and sessions, starting and ending agents, muting, settings, notifications, another account. */
import type { RingKind } from "../protocol/web_push.ts";
import type { Grouping, TextSize, Theme } from "./preferences.ts";

export const HOST_STRINGS = {
  list: {
    search: "Search sessions",
    found: (sessions: number) => sessions === 1 ? "1 session found" : `${sessions} sessions found`,
    nothing: "No session matches.",
    clear: "Show all",
    grouping: "Group sessions",
    groupings: { state: "By state", host: "By host" } satisfies Record<Grouping, string>,
    noSessions: "No agent is running here.",
    remove: (host: string) => `Remove ${host} from the list`,
    removeAsk: (host: string) =>
      `Remove ${host} and its sessions from this phone's list? It appears again as soon as it is back online. Its pairing stays.`,
  },
  start: {
    open: "Start an agent",
    heading: "Start an agent",
    host: "Host",
    project: "Project",
    agent: "Agent",
    start: "Start",
    starting: "Starting…",
    close: "Close",
    again: "Back",
    failed: (why: string) => `Not started. ${why}`,
    unclear: "The host did not say in time whether it started. Look at the list.",
    notAllowed: (host: string) =>
      `${host} does not let a phone start agents. To allow it, set this in its config.json and restart the listener:`,
    setting: '"allowAgentStart": true',
    unknown: (host: string) =>
      `${host} has not said what can be started. Either it runs an older svc, or this phone is not paired with it.`,
    noProjects: (host: string) =>
      `${host} knows no project yet. Start an agent in one there once, and it appears here:`,
    command: "svc cc",
  },
  menu: {
    open: "About this session",
    close: "Close",
    host: "Host",
    directory: "Folder",
    started: "Started",
    version: "Agent version",
    end: "End agent",
    endAsk: (label: string) => `End ${label}? It stops at once, and what it is doing now is lost.`,
    endAttached: "Someone has it open at the computer.",
    endNow: "End it now",
    keep: "Keep it",
    ending: "Ending…",
    ended: "The agent has ended.",
    failed: (why: string) => `Not ended. ${why}`,
    unclear: "The host did not say in time whether it ended. Look at the list.",
    endNotAllowed: "To end agents from a phone, set this in the host's config.json and restart the listener:",
    endSetting: '"allowAgentEnd": true',
  },
  mute: {
    mute: "Mute project",
    unmute: "Unmute project",
    hint: "A muted project takes nothing from phones, and its agents do not notify you.",
    isMuted: "This project is muted: it takes nothing from phones, and its agents do not notify you.",
    mutedThere: "This project was muted at the computer. To unmute it, run this in its folder there:",
    command: "svc unmute",
    needsLink: "What is muted shows here once this phone is connected again.",
    asking: "Asking the host…",
    done: "The host has done it.",
    failed: (why: string) => `Nothing changed. ${why}`,
    unclear: "The host did not answer in time. Try again.",
    heading: "Muted projects",
    none: "None. A project is muted from the menu of one of its sessions, or with svc mute on the host.",
    listHint: "They take nothing from phones, and their agents do not notify you.",
    byPhone: "Muted from a phone",
    atComputer: "Muted at the computer: svc unmute",
  },
} as const;

export const SETTINGS_STRINGS = {
  addHost: {
    heading: "Add a host",
    back: "Settings",
    lead: "Run this on the computer where your agents are, then scan the code that it shows.",
    command: "svc pair",
    scan: "Scan the QR code",
    stop: "Stop the camera",
    aim: "Point the camera at the QR code.",
    notALink: "That code is not a pairing link from svc.",
    pasteLabel: "Pairing link",
    pasteHint: "Or paste the link that stands below the code.",
    pair: "Pair",
    wrongLink: "This is not a pairing link. It starts with http and contains #pair=.",
    otherRelay: (relay: string) => `This link belongs to another relay, ${relay}. Open it in the browser.`,
    /** Why the camera gives no picture: `unsupported` also on a page without https. */
    camera: {
      unsupported: "This page has no access to a camera: that needs https. Paste the link instead.",
      denied: "The browser may not use the camera. Allow it in the browser's settings, or paste the link.",
      no_camera: "No camera was found. Paste the link instead.",
    },
  },
  settings: {
    heading: "Settings",
    back: "All agents",
    hosts: "Paired hosts",
    noHosts: "No host is paired with this phone. What you send is not end-to-end encrypted.",
    online: "Online",
    offline: "Offline",
    notKnown: "Not known without a connection",
    rename: "Rename",
    renameLabel: "Name on this phone",
    save: "Save",
    cancel: "Cancel",
    forget: "Forget",
    audit: "Audit log",
    forgetAsk: (host: string) =>
      `Forget ${host}? This phone can then no longer read or write its encrypted messages until you pair it again.`,
    appearance: "Appearance",
    theme: "Theme",
    themes: { system: "Automatic", light: "Light", dark: "Dark" } satisfies Record<Theme, string>,
    textSize: "Text size",
    textSizes: {
      85: "85 %",
      100: "100 %",
      115: "115 %",
      130: "130 %",
      150: "150 %",
      200: "200 %",
    } satisfies Record<TextSize, string>,
    notKept: "This browser does not store settings: the choice lasts until you reload.",
    devices: "Devices",
    devicesHint: "Everything that holds a key of this account.",
    thisDevice: "This phone",
    kinds: { phone: "Phone", listener: "Host", script: "Script" },
    lastSeen: (age: string) => `Last seen ${age}`,
    revoke: "Revoke",
    revokeAsk: (name: string) => `Revoke ${name}? Its key stops working at once.`,
    keyWorks: ({ id, name }: { id: string; name: string }) =>
      `The key “${name}” still works, as other devices use it too. To lock all of them out, and the phones that were paired by it, run on the relay: svc keys revoke ${id}`,
    revokeOnHost: "This phone's key may not revoke other devices. Run this on the host:",
    revokeCommand: (id: string) => `svc devices revoke ${id}`,
    hooks: "Hooks",
    hooksHint: "The computers whose agents report questions, dialogs and finished turns.",
    noHooks: "No agent has reported anything yet.",
    hookPushes: (pushes: number) => `${pushes} ${pushes === 1 ? "report" : "reports"}`,
    hookStates: { active: "Active", muted: "Muted", revoked: "Revoked" },
    loading: "Loading…",
    failed: "The relay did not answer. Try again later.",
    readAgain: "The relay did not answer. This is read again when the connection is back.",
    history: "What was sent",
    historyHint: "Every message and receipt that the relay keeps, with the texts that this phone can read.",
    exportAll: "Export as a file",
    exporting: (count: number) => `Reading… ${count}`,
    about: "About",
    account: "Account",
    relay: "Relay",
    version: "Version",
    unknownAccount: "Not known",
    signOut: "Sign out",
  },
} as const;

export const NOTIFICATION_STRINGS = {
  notification: {
    /** The title of a question; its text is the body. */
    asks: (session: string) => `${session} asks`,
    /** The title of a request for permission. */
    wantsPermission: (session: string) => `${session} asks for permission`,
    /** Titles where the text is not for this phone, or is not there yet. */
    untold: {
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
    quietHint: (zone: string) => `By the time of ${zone}. What comes meanwhile is in the inbox.`,
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

/** Before a link changes the account. */
export const SWAP_STRINGS = {
  heading: "Switch accounts?",
  question: "This link signs the phone in to a different account. Switch only if you meant to.",
  /** An account by the beginning of its key. */
  key: (beginning: string) => `key ${beginning}`,
  from: "Current account",
  to: "In the link",
  lost: (unsent: number) => {
    const hosts = "This phone will forget the hosts it is paired with";
    if (unsent === 0) return `${hosts}.`;
    return `${hosts} and lose ${unsent === 1 ? "1 unsent message" : `${unsent} unsent messages`}.`;
  },
  keep: "Keep current account",
  change: "Switch account",
};
