/** The texts of dialogs and of messages for later. */

export const MESSAGE_STRINGS = {
  dialog: {
    waiting: (age: string) => `Waiting, ${age}`,
    open: "A dialog is open",
    loading: "Loading its text…",
    closed: "Dialog, closed",
    reject: "Reject",
    interrupt: "Interrupt",
    sending: "On its way to the host…",
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
} as const;
