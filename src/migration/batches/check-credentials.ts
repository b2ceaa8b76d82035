import { Fault } from '../../errors.ts'
import type { OpenTokens } from '../../mail-credentials/token-source.ts'
import type { AccountAddress } from '../migrations.sql.ts'
import type { MailboxRow } from './mailboxes/batch-mailboxes.sql.ts'
import { joined, type ReadFile } from './parse/read-mailboxes.ts'
import type { MailboxChanges } from './shapes.ts'

const SIDES = ['source', 'destination'] as const

/**
 * Checks the sign-ins of a list. A line whose server a sign-in is not for is invalid.
 * @throws Fault `not_found` for a sign-in that does not exist, `conflict`
 */
export async function checkCredentials(
  openTokens: OpenTokens,
  workspaceId: string,
  list: ReadFile,
): Promise<ReadFile> {
  const known = new Map<string, Promise<string | null>>()
  const mailboxes = []
  for (const mailbox of list.mailboxes) {
    const problems = [mailbox.problem]
    for (const side of SIDES) {
      const address = mailbox[side]
      if (address.credentialId === undefined || address.host === undefined) continue
      const key = [side, address.credentialId, address.host, address.tlsVerify].join(' ')
      const checked = known.get(key) ?? findMisfit(openTokens, workspaceId, address, side)
      known.set(key, checked)
      problems.push(await checked)
    }
    mailboxes.push({ ...mailbox, problem: joined(...problems) })
  }
  return { ...list, mailboxes }
}

/** Why a sign-in is not for this server; null when it is. */
async function findMisfit(
  openTokens: OpenTokens,
  workspaceId: string,
  { credentialId = '', host = '', tlsVerify = true, user = '' }: Partial<AccountAddress>,
  side: (typeof SIDES)[number],
): Promise<string | null> {
  try {
    const path = `${side}.credentialId`
    await openTokens({ workspaceId, credentialId, path }, { host, tlsVerify, user })
    return null
  } catch (error) {
    if (error instanceof Fault && error.code === 'invalid_request') return error.message
    throw error
  }
}

/** @throws Fault `invalid_request` when a changed sign-in is not for the server of the mailbox */
export async function requireFitting(
  openTokens: OpenTokens,
  workspaceId: string,
  row: MailboxRow,
  changes: MailboxChanges,
): Promise<void> {
  for (const side of SIDES) {
    const change = changes[side]
    if (change?.credentialId === undefined) continue
    const misfit = await findMisfit(openTokens, workspaceId, { ...row[side], ...change }, side)
    if (misfit !== null) throw new Fault('invalid_request', misfit)
  }
}
