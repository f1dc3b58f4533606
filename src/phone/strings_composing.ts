/** The texts of what helps with writing: suggested commands, own snippets, texts sent before. */

export const COMPOSING_STRINGS = {
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
} as const;
