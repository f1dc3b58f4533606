/** The texts of the notification settings in the page's language. The list of sessions does not load them. */
import { type NotificationStrings, STRINGS } from "./strings.ts";
import { NOTIFICATION_STRINGS } from "./strings_notifications.ts";

export const NOTIFICATION_TEXT: NotificationStrings = STRINGS.ofNotifications ?? NOTIFICATION_STRINGS;
