import { markup } from '../../http/markup.ts'
import { plainPage } from '../../http/plain-page.ts'
import { unsubscribePage as messages } from '../messages.ts'

/** The page of the link in an email: a button, because link scanners open every link. */
export function questionPage(): string {
  const button = markup`<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button type="submit">${messages.button}</button></form>`
  return plainPage(messages.title, messages.question, button)
}

export function donePage(settingsUrl: string): string {
  return plainPage(messages.done, messages.doneText, settingsLink(settingsUrl))
}

export function unknownPage(settingsUrl: string): string {
  return plainPage(messages.unknown, messages.unknownText, settingsLink(settingsUrl))
}

const settingsLink = (url: string) => markup`<a href="${url}">${messages.settings}</a>`
