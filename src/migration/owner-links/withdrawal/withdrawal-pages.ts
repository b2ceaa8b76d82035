import { markup } from '../../../http/markup.ts'
import { plainPage } from '../../../http/plain-page.ts'
import type { Revocation } from '../../../mail-credentials/erase-credential.ts'
import { describeAccount } from '../describe-account.ts'
import type { OwnerAccess } from './withdrawal.sql.ts'

const TEXTS = {
  title: (user: string) => `Portreeve can sign in to ${user}`,
  text: (asker: string, workspace: string, from: string, to: string) =>
    `${asker} (${workspace}) copies mail from ${from} to ${to}. Your sign-in is deleted when the migration ends.`,
  somebody: 'An administrator',
  keep: 'Bookmark this page',
  keepText:
    'With its address, you can withdraw your sign-in at any time. Only you have this address.',
  withdraw: 'Withdraw the sign-in',
  withdrawText: 'Copying stops within seconds. Messages that were copied stay.',
  ended: (user: string) => `Portreeve can’t sign in to ${user}`,
  endedText: 'Your sign-in is no longer stored. You can close this window.',
  withdrawn: 'Your sign-in was withdrawn',
  deleted: (user: string) => `What was stored for ${user} is deleted.`,
  outcomes: {
    revoked: (provider: string) => `The permission at ${provider} has ended.`,
    not_offered: (provider: string) =>
      `Remove the permission in your account at ${provider}, too: the provider lets only you do that.`,
    failed: (provider: string) =>
      `${provider} did not answer. Remove the permission in your account there, too.`,
  },
  password: 'If others know the password, change it.',
  unknown: 'This page is not valid',
  unknownText: 'The address is incomplete, or the migration was deleted with all it had stored.',
} as const

/** The page of an owner who has signed in: for what, and how to withdraw. */
export function accessPage(access: OwnerAccess): string {
  const { side, source, destination, workspaceName, askedBy } = access
  const { user } = access[side]
  if (access.withdrawnAt !== null) return plainPage(TEXTS.withdrawn, TEXTS.deleted(user), markup``)
  if (!access.isStored) return plainPage(TEXTS.ended(user), TEXTS.endedText, markup``)
  const asker = askedBy ?? TEXTS.somebody
  return plainPage(
    TEXTS.title(user),
    TEXTS.text(asker, workspaceName, describeAccount(source), describeAccount(destination)),
    markup`<section><h2>${TEXTS.keep}</h2><p>${TEXTS.keepText}</p></section><section class="second"><h2>${TEXTS.withdraw}</h2><p>${TEXTS.withdrawText}</p><form method="post"><button type="submit">${TEXTS.withdraw}</button></form></section>`,
  )
}

/** @param revocation what became of the permission at the provider; null for a password */
export function withdrawnPage(user: string, revocation: Revocation | null): string {
  const rest = revocation ? TEXTS.outcomes[revocation.outcome](revocation.provider) : TEXTS.password
  return plainPage(TEXTS.withdrawn, TEXTS.deleted(user), markup`<p>${rest}</p>`)
}

export function unknownPage(): string {
  return plainPage(TEXTS.unknown, TEXTS.unknownText, markup``)
}
