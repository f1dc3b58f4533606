/** The English texts for managing hosts and agents: the list, starting and ending agents, muting, another account. */
import type { Grouping } from "./preferences.ts";

export const HOST_STRINGS = {
  list: {
    search: "Search sessions",
    found: (sessions: number) => sessions === 1 ? "1 session found" : `${sessions} sessions found`,
    nothing: "No session matches.",
    clear: "Show all",
    grouping: "Group sessions",
    groupings: { state: "By state", host: "By host" } satisfies Record<Grouping, string>,
    noSessions: "No agent is running here.",
    offline: "Offline",
    settings: "Settings",
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

/** Shown before a link switches the account. */
export const SWAP_STRINGS = {
  heading: "Switch accounts?",
  question: "This link signs the phone in to a different account. Switch only if you meant to.",
  /** Names an account by the beginning of its key. */
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
