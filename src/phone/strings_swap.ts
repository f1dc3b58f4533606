/** What the page says before a link changes the account. */

export const SWAP_STRINGS = {
  heading: "Change the account?",
  question: "A link was opened that signs this phone in as somebody else. Change only if you meant to.",
  from: "Signed in now",
  to: "In the link",
  lost: (unsent: number) => {
    const hosts = "This phone forgets what it shares with the hosts of the old account";
    if (unsent === 0) return `${hosts}.`;
    return `${hosts}, and ${unsent === 1 ? "a message" : `${unsent} messages`} that it has not sent.`;
  },
  keep: "Keep this account",
  change: "Change the account",
} as const;
