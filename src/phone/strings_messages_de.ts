/** The texts of dialogs and of messages for later, in German. */
import type { Strings } from "./strings.ts";

export const MESSAGE_STRINGS_DE: Pick<Strings, "dialog" | "later"> = {
  dialog: {
    waiting: (age: string) => `Wartet, ${age}`,
    open: "Ein Dialog ist offen",
    loading: "Text wird geladen …",
    closed: "Dialog, geschlossen",
    reject: "Ablehnen",
    interrupt: "Unterbrechen",
    sending: "Unterwegs zum Host …",
    done: "Die Taste wurde gedrückt.",
    failed: (why: string) => `Nicht getan. ${why}`,
    setting: {
      none:
        "Beantworte ihn am Rechner; um ihn von hier abzulehnen, setz allowRemoteApproval in der config.json des Hosts.",
      reject:
        'Um von hier auch zuzustimmen, setz allowRemoteApproval in der config.json des Hosts auf "once".',
      type: "allowRemoteApproval des Hosts lässt dich ihn mit den Tasten in seinem Terminal beantworten.",
    },
  },
  later: {
    heading: "Später senden",
    idle: "Wenn der Agent untätig ist",
    reset: "Wenn das Nutzungslimit zurückgesetzt ist",
    resetAt: (time: string) => `Wenn das Nutzungslimit zurückgesetzt ist (${time})`,
    at: (time: string) => `Um ${time}`,
    other: "Zu einer anderen Zeit",
    schedule: "Planen",
    cancel: "Zurück",
  },
};
