/** The English texts of a session's views: terminal, dialogs, and tools for messages, such as snippets and files. */
import type { Sealing } from "../crypto/mode.ts";
import type { Decision, UNUSUAL } from "../protocol/ask.ts";
import type { FormFault } from "./check_input.ts";
import type { CardOutcome } from "./inbox.ts";

export const SESSION_STRINGS = {
  dialog: {
    waiting: (age: string) => `Waiting, ${age}`,
    open: "A dialog is open",
    loading: "Loading its text…",
    closed: "Dialog, closed",
    reject: "Reject",
    interrupt: "Interrupt",
    sending: "Sending it to the host…",
    done: "The key was pressed.",
    failed: (why: string) => `Not done. ${why}`,
    /** One sentence on what may be done from here. */
    setting: {
      none:
        "Answer it at the computer; to reject it from here, set allowRemoteApproval in the host's config.json.",
      reject: 'To approve from here too, set allowRemoteApproval to "once" in the host\'s config.json.',
      type: "The host's allowRemoteApproval lets you answer it with the keys in its terminal.",
    },
  },
  ask: {
    sessionGone:
      "The agent has stopped waiting, and its session is no longer listed. If it has ended, an answer is refused.",
    elsewhere: "Answered on another phone. Only that phone can show the answer, and whether it arrived.",
  },
  sealed: {
    elsewhere:
      "Encrypted on another device: only the host can read it, and this phone cannot check its receipt.",
    forOthers:
      "Encrypted for the phones that were paired with the host then. This one was not, or has been paired again.",
    /** By mode, in the header of a session. */
    modes: {
      psk: "End-to-end encrypted",
      base: "Encrypted, but a malicious relay could read it: pair this phone",
      off: "Not encrypted: the relay can read it",
    } satisfies Record<Sealing, string>,
  },
  /** Why a message cannot be delivered right now. */
  blocked: {
    exited: (time: string) => `The agent ended at ${time}. Messages are refused.`,
    hostOffline: (host: string, age: string) =>
      `${host} is offline, last seen ${age}. Messages wait for up to an hour.`,
    notAddressable:
      "The agent is not in the foreground. Messages are refused, so that nothing is typed into a shell.",
  },
  /** A session that is no longer listed. */
  end: {
    ended: "This session has ended.",
    at: (time: string) => `This session ended at ${time}.`,
    since: (time: string) => `This session has ended. It was still running at ${time}.`,
    hint: "You can still read its messages.",
    renamed: (name: string) => `This session is called ${name} now.`,
    openRenamed: "Open it",
  },
  /** More than a sealed text's times allow for. */
  clocksDiffer: (apart: string) =>
    `The clocks of this phone and of its relay are ${apart} apart. Set the clock: until then, questions and what you decide may count as too late.`,
  composer: {
    label: (session: string) => `Message to ${session}`,
    placeholders: {
      psk: "Encrypted",
      base: "Message",
      off: "Unencrypted",
    } satisfies Record<Sealing, string>,
    send: "Send",
    hint: "Ctrl+Enter to send",
    later: "Send later",
    size: (bytes: string, most: string) => `${bytes} of ${most} bytes`,
    tooLong: (most: string) => `Too long: the limit is ${most} bytes.`,
    controls: "The text contains control characters, which would act as keys in the terminal.",
    badName: "This session's name contains characters that svc cannot use.",
  },
  form: {
    faults: {
      required: "This field is required.",
      number: "Enter a number, such as 1500 or 1.5.",
      controls: "The text contains control characters.",
      too_long: "The answers are too long in total. Shorten this one.",
    } satisfies Record<FormFault, string>,
    changeSign: "Change the sign",
  },
  later: {
    heading: "Send later",
    idle: "When the agent is idle",
    reset: "When the usage limit has reset",
    resetAt: (time: string) => `When the usage limit has reset (${time})`,
    at: (time: string) => `At ${time}`,
    other: "Another time",
    schedule: "Schedule",
    cancel: "Back",
  },
  suggestions: {
    label: "Commands of this agent",
    count: (commands: number) => commands === 1 ? "1 suggestion" : `${commands} suggestions`,
  },
  insert: {
    open: "Add to the message",
    heading: "Add to the message",
    search: "Search",
    snippets: "Snippets",
    noSnippets: "Texts that you send often. Save one, and it is a tap away.",
    saveDraft: "Save the draft as a snippet",
    create: "New snippet",
    sent: "Sent before",
    noSent: "What you send to this session appears here.",
    nothingFound: "Nothing found",
    earlier: "Load earlier messages",
    change: (name: string) => `Change ${name}`,
    close: "Close",
  },
  snippet: {
    headingNew: "New snippet",
    heading: "Change the snippet",
    name: "Name",
    namePlaceholder: "The first line of the text",
    text: "Text",
    save: "Save",
    delete: "Delete",
    deleteAsk: (name: string) => `Delete the snippet “${name}”?`,
    back: "Back",
    full: (most: number) => `This phone keeps ${most} snippets. Delete one first.`,
    notKept: "This browser could not save it.",
  },
  upload: {
    choose: "Image or file",
    sending: (name: string) => `Sending ${name}`,
    waiting: (name: string) => `Paused until the connection is back: ${name}`,
    failed: (name: string) => `${name} was not sent.`,
    cancel: "Cancel",
    dismiss: "Close",
    tooLarge: (most: string) =>
      most === "" ? "It is too large." : `It is too large: this host takes up to ${most}.`,
    other: (reason: string) => `The host refused it: ${reason}.`,
    reasons: {
      lost: "The connection was lost for too long. Send it again when it is back.",
      silent: "The host did not answer. It may be offline, or this sign-in may only read.",
      old: "The host's svc does not take files yet. Update it there.",
      unpaired: "Files are sent end-to-end encrypted only. Pair this phone with the host: svc pair.",
      sealed_required: "Files are sent end-to-end encrypted only. Pair this phone with the host: svc pair.",
      unreadable: "The phone could not read it.",
      empty: "It is empty.",
      muted: "The project is muted on the host. Unmute it there: svc unmute.",
      rate_limited: "Too many files in a short time. Wait a moment.",
      upload_busy: "Other files are being sent. Wait until they have arrived.",
      upload_not_allowed: "The host takes no files: uploadMaxBytes in its config.json is 0.",
      upload_full: "The host has no room for more files. It removes old ones after a week.",
      upload_not_stored: "The host could not store it. The reason is in its log: svc logs.",
      upload_stalled: "Nothing arrived for a minute, so the host gave up. Send it again.",
      upload_damaged: "It arrived damaged, so the host removed it. Send it again.",
    },
  },
  shortcuts: {
    heading: "Keyboard shortcuts",
    names: {
      send: "Send the message",
      write: "Write a message",
      search: "Search or find",
      switch: "Terminal or messages",
      back: "Leave the field, then back",
      leaveLive: "Leave the live terminal",
      help: "This list",
    },
    control: "Ctrl or ⌘",
    shift: "Shift",
    enter: "Enter",
    live: "While you type live, every key goes to the terminal.",
    singleKeys: "Single-key shortcuts",
    close: "Close",
  },
  panels: { terminal: "Terminal", messages: "Messages" },
  terminal: {
    label: (session: string) => `Terminal of ${session}`,
    screen: "The terminal's screen. To read or select its text, use Select text under More keys.",
    foot: "Keys and message",
    opening: "Opening the terminal…",
    size: (cols: number, rows: number) => `Live, ${cols} × ${rows}`,
    away: "Earlier output",
    latest: (newer: number) => newer === 0 ? "Latest" : `Latest, ${newer} new`,
    fitted: (size: string) => `${size}, fitted`,
    /** Shown for an ended session whose last screen was not kept. */
    gone: {
      heading: "No screen to show",
      why: "svc shows a terminal while its session runs, and keeps no copy of it.",
      next: "To continue, start the agent again on its computer. It appears in the list.",
    },
    lastScreen: "The session has ended. This is its last screen.",
    lost: "No connection: the screen is frozen and keys are not sent.",
    unsure: "The connection broke while keys were being sent: check whether they arrived.",
    missed: "Keys that were pressed without a connection were not sent.",
    latency: (ms: number) => `${ms} ms`,
    again: "Try again",
    endedOther: (reason: string) => `The terminal ended: ${reason}.`,
    ends: {
      no_such_session: "The session is not running. It appears again when it is back.",
      ambiguous_session: "Two tmux servers have a session with this name.",
      session_renamed: "The session was renamed.",
      session_ended: "The session has ended.",
      host_silent: "The host has not answered yet.",
      mirror_lost: "The session is gone, or tmux was restarted.",
      pane_gone: "The agent's pane is gone.",
      pane_dead: "The agent's pane is gone.",
      listener_offline: "The host is offline.",
      listener_gone: "The host went offline.",
      too_many_streams: "Too many terminals are open.",
      phone_behind: "The connection is too slow for this screen.",
      listener_behind: "The host's connection is too slow right now.",
      destroy_unattached:
        "This session ends when its last client detaches (destroy-unattached), so the phone does not attach to it.",
      sealed_required: "This host shows its terminals to paired phones only: svc pair.",
      unsealable:
        "The data could not be decrypted. Someone may be intercepting the connection: pair this phone again.",
      keys_lost: "Keys were lost on the way. Check the terminal before you type more.",
    },
    live: "Live",
    liveName: "Live keys",
    liveLabel: (session: string) => `Type into the terminal of ${session}`,
    liveHint: "Each key is sent at once",
    liveBlocked: "Keys are blocked right now",
    liveLeave: "Tab is sent to the terminal. Press Shift+Esc to leave this field.",
    keys: "Keys",
    more: { sign: "•••", name: "More keys" },
    smaller: { sign: "A−", name: "A−, smaller text" },
    larger: { sign: "A+", name: "A+, larger text" },
    select: "Select text",
    above: "Earlier output",
    fit: "Fit to phone",
    asText: "As text",
    find: "Find",
    findLabel: "Find in the terminal's output",
    findCount: (at: number, all: number) => all === 0 ? "No match" : `${at} of ${all}`,
    findPrevious: "Earlier match",
    findNext: "Later match",
    fitRefused: "The window has several panes, so it keeps its size.",
    held: "A dialog is open, so keys are held.",
    heldFor: (reason: string) => `${reason} Keys are held.`,
    keysRepeated: "A key arrived twice and was typed once. Someone may be tampering with the connection.",
    troubles: {
      silent: "Nothing has come from the host for a while: the screen may be out of date.",
      keys_late: "The last keys have not reached the host.",
      tampered:
        "Some data was lost, changed or repeated on the way and was ignored. Someone may be tampering with the connection.",
    },
    notTyped: (why: string) => `Not typed. ${why}`,
    /** Where the reason for a message would be wrong for a key. */
    whyKeys: {
      shell_escape: "A line that starts with ! would run a shell command.",
      screen_stale: "The screen had changed, so the key could have meant something else.",
      desk_busy: "Someone was typing at the computer.",
      key_not_allowed: "This key opens another program or suspends the agent. Use it at the computer.",
    },
    text: "Terminal text",
    copyAll: "Copy all",
    copied: "Copied",
    notCopied: "The browser does not let this page copy. Select the text above, and copy it there.",
    close: "Close",
  },
  latches: {
    ctrl: {
      sign: "Ctrl",
      off: "Ctrl",
      next: "Ctrl, held for the next key",
      locked: "Ctrl, held until you tap again",
    },
    alt: {
      sign: "Alt",
      off: "Alt",
      next: "Alt, held for the next key",
      locked: "Alt, held until you tap again",
    },
    noSuchKey: "Not typed. Ctrl and Alt go with a letter, and Alt with Enter and Backspace.",
  },
  paste: {
    paste: "Paste",
    faults: {
      empty: "There is no text on the clipboard.",
      too_long: "Not pasted: the text on the clipboard is too long.",
      unreadable:
        "The browser does not let this page read the clipboard. Press and hold the text field, and paste there.",
    },
  },
  /** Keys by their tmux names: the text on the button, and how a screen reader reads it. */
  keys: {
    Escape: { sign: "Esc", name: "Esc" },
    Tab: { sign: "Tab", name: "Tab" },
    BTab: { sign: "⇧Tab", name: "Shift Tab" },
    Up: { sign: "↑", name: "Up" },
    Down: { sign: "↓", name: "Down" },
    Left: { sign: "←", name: "Left" },
    Right: { sign: "→", name: "Right" },
    Enter: { sign: "⏎", name: "Enter" },
    "C-c": { sign: "^C", name: "Control C" },
    "C-d": { sign: "^D", name: "Control D" },
    "C-l": { sign: "^L", name: "Control L" },
    "C-r": { sign: "^R", name: "Control R" },
    "C-u": { sign: "^U", name: "Control U" },
    "C-o": { sign: "^O", name: "Control O" },
    "C-z": { sign: "^Z", name: "Control Z" },
    BSpace: { sign: "⌫", name: "Backspace" },
    DC: { sign: "Del", name: "Del" },
    Home: { sign: "Home", name: "Home" },
    End: { sign: "End", name: "End" },
    PPage: { sign: "PgUp", name: "PgUp" },
    NPage: { sign: "PgDn", name: "PgDn" },
    "M-Enter": { sign: "⌥⏎", name: "Alt Enter" },
  },
} as const;

/** The texts of cards, which represent agents' dialogs. */
export const CARD_STRINGS = {
  permission: "Asks for permission",
  tool: "Tool",
  directory: "Directory",
  request: "The whole request",
  wrap: "Wrap lines",
  unusual: {
    hidden_characters: "It contains hidden characters. Each is shown by its number, such as ⟨U+202E⟩.",
    long_lines: "It has very long lines.",
    outside_project: "It names a path outside the project.",
  } satisfies Record<(typeof UNUSUAL)[number], string>,
  withheld: {
    never_list: "This kind of request can never be allowed from a phone, only at the computer.",
    too_long: "The request is too long to be shown in full, so it cannot be allowed from here.",
  },
  decisions: { once: "Allow once", always: "Always allow", reject: "Reject" } satisfies Record<
    Decision,
    string
  >,
  reason: "Reason for rejecting it",
  readFirst: "To allow it, read the request to its end first.",
  long: {
    load: (characters: string) => `Load all of it (${characters} characters)`,
    loading: "Loading the request",
    loadFirst: "This is its beginning. To allow it, load all of it first, and go to its end.",
    readFirst: "To allow it, go to its end first.",
    size: (lines: string, characters: string) => `${lines} lines, ${characters} characters`,
    share: (percent: number) => `${percent} % of it has been on your screen.`,
    toEnd: "Go to the end",
    beginning: "The beginning of the request",
    failed: {
      lost: "No connection to the host. Load it again.",
      silent: "The host does not answer. Load it again.",
      unpaired: "Pair this phone with the host: svc pair.",
      gone: "The host no longer has it: the dialog was answered, or svc was started again there.",
      changed: "What arrived is not the request of this card, so it cannot be allowed from here.",
    },
  },
  moved: "The card had just moved. Tap again.",
  decided: { once: "Allowed once", always: "Always allowed", reject: "Rejected" } satisfies Record<
    Decision,
    string
  >,
  own: "In your own words",
  closed: {
    withdrawn: "It was answered at the computer, or withdrawn",
    expired: "The agent no longer waits for it here: answer at the computer",
  },
  anothers: "Answer from another phone",
  outcomes: {
    on_host: "On the host",
    applied: "The agent has taken it",
    gone: "It came too late: the dialog was answered or is gone",
    refused: "The host refused it",
    not_taken: "The host did not take it in time. Answer at the computer.",
    unclear: "It is not known whether the agent took it. Check the session.",
    unproven: "The relay reports an outcome that the host has not confirmed. Check the session.",
  } satisfies Record<Exclude<CardOutcome, "pending">, string>,
};

export type CardStrings = typeof CARD_STRINGS;
