/** The texts of what helps with writing: suggested commands. */

export const COMPOSING_STRINGS = {
  suggestions: {
    label: "Commands of this agent",
    count: (commands: number) => commands === 1 ? "1 suggestion" : `${commands} suggestions`,
  },
} as const;
