import { type Html, markup } from '../../../http/markup.ts'
import { plainPage } from '../../../http/plain-page.ts'
import { linkPage as messages, MUTE_CHOICES, SNOOZE_CHOICES } from '../messages.ts'
import { ACTIONS, type Action } from './action-links.ts'

type Choices = readonly { minutes: number; name: string }[]

/**
 * The page of a link: a form for each action, because link scanners open every link.
 * @param first the action that is shown first
 */
export function questionPage(title: string, first: Action): string {
  const others = ACTIONS.filter((action) => action !== first)
  return plainPage(
    title,
    messages.once,
    markup`${section(first, 'first')}${others.map((action) => section(action, 'second'))}`,
  )
}

function section(action: Action, look: 'first' | 'second'): Html {
  const { text, button } = messages[action]
  return markup`<section class="${look}"><h2>${button}</h2><p>${text}</p><form method="post"><input type="hidden" name="action" value="${action}">${fieldOf(action)}<button type="submit">${button}</button></form></section>`
}

function fieldOf(action: Action): Html | null {
  if (action === 'acknowledge') return null
  const choices: Choices = action === 'snooze' ? SNOOZE_CHOICES : MUTE_CHOICES
  const options = choices.map(
    ({ minutes, name }) => markup`<option value="${minutes}">${name}</option>`,
  )
  return markup`<label>${messages[action].label}<select name="minutes">${options}</select></label>`
}

/** @param done what was done, such as “Snoozed for 1 hour” */
export function donePage(done: string, title: string, dashboardUrl: string): string {
  return plainPage(`${done}: ${title}`, messages.doneText, dashboardLink(dashboardUrl))
}

/** Why a link does nothing. */
export function refusalPage(reason: Refusal, dashboardUrl: string): string {
  const texts = {
    used: [messages.used, messages.usedText],
    ended: [messages.ended, messages.endedText],
    expired: [messages.expired, messages.expiredText],
    unknown: [messages.unknown, messages.unknownText],
  } as const
  const [title, text] = texts[reason]
  return plainPage(title, text, dashboardLink(dashboardUrl))
}

export type Refusal = 'used' | 'ended' | 'expired' | 'unknown'

const dashboardLink = (url: string) => markup`<a href="${url}">${messages.dashboard}</a>`
