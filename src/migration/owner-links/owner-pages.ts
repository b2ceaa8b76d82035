import { markup, type Html } from '../../http/markup.ts'
import { plainPage } from '../../http/plain-page.ts'
import { oneLine } from '../../http/shown-name.ts'
import { isOfKnownProvider } from '../../mail-credentials/providers.ts'
import type { AccountAddress } from '../migrations.sql.ts'
import { describeAccount, serverOf } from './describe-account.ts'
import type { OpenedLink } from './owner-links.sql.ts'

type Provider = { id: string; name: string }

const TEXTS = {
  title: (user: string) => `Sign in to ${user}`,
  source: (asker: string, workspace: string, from: string, to: string) =>
    `${asker} (${workspace}) asks to copy all mail from ${from} to ${to}. The mail of the old mailbox is not changed.`,
  destination: (asker: string, workspace: string, from: string, to: string) =>
    `${asker} (${workspace}) asks to copy mail from ${from} into your mailbox, ${to}.`,
  somebody: 'An administrator',
  stored:
    'Portreeve doesn’t show your sign-in to the person who asks. It is stored encrypted, and deleted when the migration ends or when you withdraw it.',
  atProvider: (name: string) => `Sign in with ${name}`,
  atProviderText: 'On the page of the provider, without giving away your password.',
  password: 'Use the password',
  passwordText: (server: string) => `It is sent to ${server}, which checks it at once.`,
  unknownServer:
    'Enter it only if this is the server of your mailbox: the people who run it can read your password.',
  unverified: 'Portreeve doesn’t verify the certificate of this server.',
  passwordOf: (user: string) => `Password of ${user}`,
  submit: 'Sign in',
  doubt: 'If you don’t expect this, close the page and ask the person who sent the link.',
  leaving: (name: string) => `Continue at ${name}`,
  leavingText: 'The page opens by itself. You come back here afterwards.',
} as const

/**
 * The page of an open link: who asks for what, and the ways to sign in.
 * @param provider at which the mailbox can be opened; null for none
 * @param problem of the last attempt
 */
export function questionPage(
  link: OpenedLink,
  provider: Provider | null,
  problem: string | null,
): string {
  const { side, source, destination, workspaceName, askedBy } = link
  const { user } = link[side]
  const asker = askedBy ?? TEXTS.somebody
  const text = TEXTS[side](
    asker,
    workspaceName,
    describeAccount(source),
    describeAccount(destination),
  )
  const failed = problem === null ? null : markup`<p class="problem" role="alert">${problem}</p>`
  return plainPage(
    TEXTS.title(user),
    text,
    markup`${failed}<p>${TEXTS.stored}</p>${provider && providerSection(provider)}${passwordSection(link[side], provider === null)}<section><p>${TEXTS.doubt}</p></section>`,
  )
}

function providerSection({ name }: Provider): Html {
  return markup`<section><h2>${TEXTS.atProvider(name)}</h2><p>${TEXTS.atProviderText}</p><form method="post"><input type="hidden" name="way" value="provider"><button type="submit">${TEXTS.atProvider(name)}</button></form></section>`
}

function passwordSection(address: AccountAddress, isOnly: boolean): Html {
  const { tlsVerify } = address
  const user = oneLine(address.user)
  const warnings = [
    ...(isOfKnownProvider(address) ? [] : [TEXTS.unknownServer]),
    ...(tlsVerify ? [] : [TEXTS.unverified]),
  ]
  const text = [TEXTS.passwordText(serverOf(address)), ...warnings].join(' ')
  return markup`<section class="${isOnly ? 'first' : 'second'}"><h2>${TEXTS.password}</h2><p>${text}</p><form method="post"><input type="hidden" name="way" value="password"><label>${TEXTS.passwordOf(user)}<input type="password" name="password" required maxlength="1000" autocomplete="current-password"></label><button type="submit">${TEXTS.submit}</button></form></section>`
}

/** Leads to the page of the provider. A form must not be redirected there (`form-action`). */
export function leavingPage({ name }: Provider, url: string): string {
  return plainPage(
    TEXTS.leaving(name),
    TEXTS.leavingText,
    markup`<meta http-equiv="refresh" content="0; url=${url}"><p><a href="${url}">${TEXTS.leaving(name)}</a></p>`,
  )
}

const REFUSALS = {
  used: [
    'This link was used',
    'The owner of the mailbox has signed in. The link works once. To withdraw, the owner opens the page that they saw afterwards.',
  ],
  expired: ['This link has expired', 'Ask the person who sent it for another one.'],
  blocked: [
    'This link is blocked',
    'Too many passwords were rejected. Ask the person who sent the link for another one.',
  ],
  unknown: [
    'This link is not valid',
    'It was revoked or replaced, or is incomplete. Ask the person who sent it.',
  ],
} as const

export type Refusal = keyof typeof REFUSALS

/** Why a link does nothing. */
export function refusalPage(reason: Refusal): string {
  const [title, text] = REFUSALS[reason]
  return plainPage(title, text, markup``)
}
