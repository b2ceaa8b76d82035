import { Fault, invalidField } from '../../errors.ts'
import { KEEP_DAYS } from '../../mail-credentials/limits.ts'
import {
  extendCredentials,
  holdCredential,
  isCredentialSignedInWith,
} from '../../mail-credentials/mail-credentials.sql.ts'
import { parseHost } from '../../net/address.ts'
import { breaksCommand } from '../../net/imap/connection/command-encoding.ts'
import { checkSubmission } from '../../net/smtp-submission.ts'
import { encrypt } from '../../store/encryption.ts'
import { newUuid } from '../../store/uuid.ts'
import { requireDomain } from '../domain-parameter.ts'
import { CANARY_TIMEOUT_MS, MAX_CANARIES, MAX_SEEDS } from '../limits.ts'
import {
  deleteCanary,
  deleteSeed,
  findCanary,
  insertCanary,
  insertSeed,
  listSeeds,
  lockAndCountCanaries,
  updateCanary,
  type CanaryRow,
  type SeedRow,
} from './canary.sql.ts'
import { seedProvider } from './seed-provider.ts'
import type { NewCanary, NewSeed } from './shapes.ts'
import {
  canaryContext,
  openSeed,
  openSubmission,
  seedContext,
  type CanaryDeps,
} from './sign-ins.ts'

/**
 * Creates a canary after a sign-in at its server.
 * @throws Fault `invalid_request`, `conflict`, `upstream_rejected`, and errors of the guard
 */
export async function createCanary(
  deps: CanaryDeps,
  workspaceId: string,
  { sender, user, password, everyHours = 6, ...given }: NewCanary,
): Promise<CanaryRow> {
  const { db, secretKey } = deps
  const { address, domain } = requireEmail(sender, 'sender')
  refuseControls({ user, password })
  const settings = { ...given, host: hostOf(given.host), username: user }
  const signal = AbortSignal.timeout(CANARY_TIMEOUT_MS)
  const problem = await checkSubmission(await openSubmission(deps, settings, password, signal))
  if (problem !== null) throw new Fault('upstream_rejected', `${problem.replace(/\.*$/, '')}.`)
  const id = newUuid()
  const sealed = encrypt(password, secretKey, canaryContext(id))
  return db.transaction().execute(async (trx) => {
    if ((await lockAndCountCanaries(trx, workspaceId)) >= MAX_CANARIES)
      throw new Fault(
        'conflict',
        `A workspace can have up to ${MAX_CANARIES} canaries. Delete one first.`,
      )
    return insertCanary(trx, {
      ...settings,
      id,
      workspaceId,
      sender: address,
      domain,
      sealed,
      everyHours,
    })
  })
}

/**
 * Adds a seed after a sign-in at its mailbox.
 * @throws Fault `not_found`, `invalid_request`, `conflict`, and as `signIn`
 */
export async function addSeed(
  deps: CanaryDeps,
  workspaceId: string,
  canaryId: string,
  { email, user, password, credentialId, ...given }: NewSeed,
): Promise<SeedRow> {
  const { db, secretKey } = deps
  await requireCanary(deps, workspaceId, canaryId)
  const { address } = requireEmail(email, 'email')
  refuseControls({ user, password: password ?? '' })
  const settings = {
    ...given,
    workspaceId,
    canaryId,
    host: hostOf(given.host),
    username: user,
    credentialId: credentialId ?? null,
  }
  const signal = AbortSignal.timeout(CANARY_TIMEOUT_MS)
  const use = { password: password ?? null, isWork: false }
  const { wire } = await openSeed(deps, settings, use, signal)
  await wire.logout()
  const id = newUuid()
  const sealed = password === undefined ? null : encrypt(password, secretKey, seedContext(id))
  return db.transaction().execute(async (trx) => {
    await lockAndCountCanaries(trx, workspaceId)
    const seeds = await listSeeds(trx, [canaryId])
    if (seeds.length >= MAX_SEEDS)
      throw new Fault('conflict', `A canary can have up to ${MAX_SEEDS} seeds. Delete one first.`)
    if (credentialId !== undefined) await holdCredential(trx, workspaceId, credentialId, true)
    const provider = seedProvider(settings.host)
    const row = await insertSeed(trx, { ...settings, id, email: address, provider, sealed })
    if (!row) throw new Fault('conflict', `The canary has the seed ${address} already.`)
    // The first mail need not wait for the next run.
    if (seeds.length === 0) await updateCanary(trx, workspaceId, canaryId, {})
    return row
  })
}

/** @throws Fault `not_found` */
export async function removeSeed(
  deps: CanaryDeps,
  workspaceId: string,
  canaryId: string,
  id: string,
): Promise<void> {
  await requireCanary(deps, workspaceId, canaryId)
  await deps.db.transaction().execute(async (trx) => {
    const seed = (await listSeeds(trx, [canaryId])).find((row) => row.id === id)
    if (!seed || !(await deleteSeed(trx, canaryId, id)))
      throw new Fault('not_found', 'The seed was not found.')
    await release(trx, seed)
  })
}

/** @throws Fault `not_found` */
export async function removeCanary(
  { db }: CanaryDeps,
  workspaceId: string,
  id: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const seeds = await listSeeds(trx, [id])
    if (!(await deleteCanary(trx, workspaceId, id))) throw canaryNotFound()
    for (const seed of seeds) await release(trx, seed)
  })
}

/** @throws Fault `not_found` */
export async function requireCanary(
  { db }: Pick<CanaryDeps, 'db'>,
  workspaceId: string,
  id: string,
): Promise<CanaryRow> {
  const row = await findCanary(db, workspaceId, id)
  if (!row) throw canaryNotFound()
  return row
}

export function canaryNotFound(): Fault {
  return new Fault('not_found', 'The canary was not found in your workspace.')
}

/** A credential that nothing signs in with any more is deleted a day later. */
async function release(
  trx: Parameters<typeof holdCredential>[0],
  { workspaceId, credentialId }: SeedRow,
): Promise<void> {
  if (credentialId === null) return
  if (await isCredentialSignedInWith(trx, workspaceId, credentialId)) return
  await holdCredential(trx, workspaceId, credentialId, false)
  await extendCredentials(trx, workspaceId, [credentialId], KEEP_DAYS.unused)
}

function hostOf(text: string): string {
  const host = parseHost(text)
  return host.kind === 'ip' ? host.address : host.name
}

/** An address without a display name or quotes, its domain in lower case. */
function requireEmail(text: string, path: string): { address: string; domain: string } {
  const match = /^([\w!#$%&'*+/=?^`{|}~.-]{1,64})@([^@\s]+)$/.exec(text.trim())
  if (!match) throw invalidField(path, 'must be an email address')
  const domain = requireDomain(match[2] as string)
  return { address: `${match[1]}@${domain}`, domain }
}

/** A line break would let the user inject a command. */
function refuseControls(fields: Record<string, string>): void {
  for (const [name, value] of Object.entries(fields))
    if (breaksCommand(value)) throw invalidField(name, 'must not contain line breaks or NUL')
}
