import type { Kysely } from 'kysely'
import { Fault, type FaultDetail } from '../../errors.ts'
import type { SignatureScheme } from '../../protocols/webhook-signature.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import type { EncryptedColumn } from '../../store/key-rotation.ts'
import { encrypt, decrypt } from '../../store/encryption.ts'
import { notify, type Notifications } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import { configuredResponse, type CaptureResponse } from '../capture/responses.ts'
import { MAX_ENDPOINTS_PER_ACCOUNT, MAX_RESPONSE_BODY_BYTES } from '../limits.ts'
import { deleteRequests } from '../requests/store.ts'
import { newEndpointToken } from '../ids.ts'
import { ensureResponseSecret, newSecret, responseSecretContext, sameSecretFault } from './response-secret.ts'
import {
  countEndpoints,
  deleteEndpoint,
  findEndpoint,
  findEndpointByToken,
  insertEndpoint,
  updateEndpoint,
  type EndpointChange,
  type EndpointRow,
  type EncryptedEndpoint,
} from './store.ts'

/** What a capture needs of its endpoint, with the answer made once. */
export type Endpoint = {
  id: string
  accountId: string
  cors: boolean
  timeout: number
  responseType: string
  response: CaptureResponse
  /** What is filled in for each request; null for an answer that is always the same. */
  template: { text: string; secret: string } | null
}

/** What an owner sets; what is not given stays as it is. */
export type Settings = {
  label?: string | undefined
  responseStatus?: number | undefined
  responseBody?: string | undefined
  responseType?: string | undefined
  template?: boolean | undefined
  cors?: boolean | undefined
  timeout?: number | undefined
  signature?: (SignatureScheme & { secret?: string | undefined }) | null | undefined
}

type Deps = { db: Kysely<DB>; secretKey: string }

const CHANGED = 'webhook.endpoint'

export type EndpointChanged = { id: string; token: string }

/** @param lost called when changes may have been missed */
export function onEndpointChange(
  notifications: Notifications,
  changed: (endpoint: EndpointChanged) => void,
  lost: () => void,
): () => void {
  const ends = [
    notifications.on(CHANGED, (payload) => changed(payload as EndpointChanged)),
    notifications.onReconnect(lost),
  ]
  return () => ends.forEach((end) => end())
}

/** @throws Fault `conflict` when the account has too many, `invalid_request` */
export async function createEndpoint(
  { db, secretKey }: Deps,
  accountId: string,
  settings: Settings,
): Promise<EndpointRow> {
  validateSettings(settings)
  return db.transaction().execute(async (trx) => {
    if ((await countEndpoints(trx, accountId)) >= MAX_ENDPOINTS_PER_ACCOUNT) {
      const sentence = `An account can have up to ${MAX_ENDPOINTS_PER_ACCOUNT} webhook endpoints. Delete one that is no longer used.`
      throw new Fault('conflict', sentence)
    }
    const { signature, ...plain } = settings
    const made = await insertEndpoint(trx, { accountId, token: newEndpointToken(), ...pickGiven(plain) })
    const sealed = encryptSignature(signature, made.id, secretKey)
    const row = sealed ? await updateEndpoint(trx, accountId, made.id, sealed) : made
    await notifyEndpointChange(trx, accountId, made)
    return row ?? made
  })
}

/**
 * Changes the given settings, for every instance.
 * @throws Fault `not_found`, `invalid_request`
 */
export async function changeEndpoint(
  { db, secretKey }: Deps,
  accountId: string,
  id: string,
  settings: Settings,
): Promise<EndpointRow> {
  validateSettings(settings)
  const { signature, ...plain } = settings
  return db.transaction().execute(async (trx) => {
    const before = await requireEndpoint(trx, accountId, id)
    if (signature && signature.secret === undefined && before.signatureSecret === null) throw secretRequired()
    requireOtherSecret(before, signature, secretKey)
    const change = { ...pickGiven(plain), ...encryptSignature(signature, id, secretKey) }
    const row = await updateEndpoint(trx, accountId, id, change)
    if (!row) throw endpointNotFound()
    await notifyEndpointChange(trx, accountId, row)
    return row
  })
}

/** @throws Fault `not_found` */
export async function removeEndpoint(db: Kysely<DB>, accountId: string, id: string): Promise<string> {
  return db.transaction().execute(async (trx) => {
    const token = await deleteEndpoint(trx, accountId, id)
    if (token === undefined) throw endpointNotFound()
    await notifyEndpointChange(trx, accountId, { id, token })
    return token
  })
}

/**
 * Deletes all captured requests and counts anew.
 * @returns how many were deleted
 * @throws Fault `not_found`
 */
export async function clearRequests(db: Kysely<DB>, accountId: string, id: string): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const row = await updateEndpoint(trx, accountId, id, { requestCount: 0 })
    if (!row) throw endpointNotFound()
    await notifyEndpointChange(trx, accountId, row)
    return deleteRequests(trx, id)
  })
}

/** @throws Fault `not_found`, also for another account's endpoint */
export async function requireEndpoint(db: Db, accountId: string, id: string): Promise<EncryptedEndpoint> {
  const row = await findEndpoint(db, accountId, id)
  if (!row) throw endpointNotFound()
  return row
}

/** @throws Fault `not_found` */
export async function readResponseSecret({ db, secretKey }: Deps, accountId: string, id: string): Promise<string> {
  return ensureResponseSecret(db, await requireEndpoint(db, accountId, id), secretKey)
}

/**
 * Replaces the secret that responses are signed with, for every instance.
 * @param wanted what a provider prescribes; without it a new one is generated
 * @throws Fault `not_found`, `invalid_request` for the secret that verifies senders
 */
export async function replaceResponseSecret(
  { db, secretKey }: Deps,
  accountId: string,
  id: string,
  wanted: string = newSecret(),
): Promise<string> {
  await db.transaction().execute(async (trx) => {
    const endpoint = await requireEndpoint(trx, accountId, id)
    if (decryptSignatureSecret(endpoint, secretKey) === wanted) throw sameSecretFault('secret')
    const row = await updateEndpoint(trx, accountId, id, {
      responseSecret: encrypt(wanted, secretKey, responseSecretContext(id)),
    })
    if (row) await notifyEndpointChange(trx, accountId, row)
  })
  return wanted
}

/** The endpoint behind a token, made ready for captures. */
export async function loadEndpoint({ db, secretKey }: Deps, token: string): Promise<Endpoint | null> {
  const row = await findEndpointByToken(db, token)
  if (!row) return null
  const secret = row.template ? await ensureResponseSecret(db, row, secretKey) : ''
  const template = row.template ? { text: row.responseBody, secret } : null
  const { id, accountId, cors, timeout, responseType } = row
  return { id, accountId, cors, timeout, responseType, response: configuredResponse(row, row.responseBody), template }
}

/** The secret its sender signs with; null when none is set. */
export function decryptSignatureSecret({ id, signatureSecret }: EncryptedEndpoint, secretKey: string): string | null {
  return signatureSecret === null ? null : decrypt(signatureSecret, secretKey, signatureContext(id))
}

function encryptSignature(signature: Settings['signature'], id: string, secretKey: string): EndpointChange | undefined {
  if (signature === undefined) return undefined
  if (signature === null) return { signature: null, signatureSecret: null }
  const { secret, ...scheme } = signature
  return {
    signature: scheme,
    ...(secret !== undefined && { signatureSecret: encrypt(secret, secretKey, signatureContext(id)) }),
  }
}

/** @throws Fault `invalid_request` when senders would be verified with what responses are signed with */
function requireOtherSecret(
  { id, responseSecret }: EncryptedEndpoint,
  signature: Settings['signature'],
  secretKey: string,
): void {
  if (!signature?.secret || responseSecret === null) return
  if (decrypt(responseSecret, secretKey, responseSecretContext(id)) === signature.secret)
    throw sameSecretFault('signature.secret')
}

/** Where the secrets that verify senders and sign responses are stored. */
export const ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  { table: 'webhook_endpoint', id: 'id', column: 'signature_secret', contextOf: signatureContext },
  { table: 'webhook_endpoint', id: 'id', column: 'response_secret', contextOf: responseSecretContext },
]

function signatureContext(id: string): string {
  return `webhook/${id}/signature`
}

/** Says in every instance that an endpoint was changed. */
async function notifyEndpointChange(db: Db, accountId: string, { id, token }: EndpointChanged): Promise<void> {
  await notify(db, CHANGED, { id, token })
  await notifyChange(db, accountId, 'webhooks', id)
}

type Plain = Omit<Settings, 'signature'>

/** What is written as it is given: a request's other fields, such as another account's id, must not reach the row. */
const PLAIN_FIELDS = ['label', 'responseStatus', 'responseBody', 'responseType', 'template', 'cors', 'timeout'] as const

/** Without the fields that were not given, which the database would otherwise be asked to empty. */
function pickGiven(settings: Plain): { [K in keyof Plain]?: Exclude<Plain[K], undefined> } {
  return Object.fromEntries(
    PLAIN_FIELDS.flatMap((name) => (settings[name] === undefined ? [] : [[name, settings[name]]])),
  )
}

/** A media type (RFC 9110, 8.3.1) with parameters, and nothing that would end the header. */
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w-]+=(?:"[^"\r\n]*"|[\w.+-]+))*$/
const MEDIA_TYPE_LENGTH = 127

function validateSettings({ responseBody, responseType, signature }: Settings): void {
  const details: FaultDetail[] = []
  if (responseType !== undefined && !(responseType.length <= MEDIA_TYPE_LENGTH && isMediaType(responseType))) {
    details.push({ path: 'responseType', message: 'must be a media type such as text/plain; charset=utf-8' })
  }
  if (responseBody !== undefined && Buffer.byteLength(responseBody) > MAX_RESPONSE_BODY_BYTES) {
    details.push({ path: 'responseBody', message: `must have up to ${MAX_RESPONSE_BODY_BYTES} bytes` })
  }
  if (responseBody?.includes('\u0000')) details.push({ path: 'responseBody', message: 'must not have NUL characters' })
  if (signature?.scheme === 'hmac' && signature.header === undefined) {
    details.push({ path: 'signature.header', message: 'is required for the scheme hmac' })
  }
  if (details.length === 0) return
  const sentence = details.map(({ path, message }) => `${path} ${message}`).join('; ')
  throw new Fault('invalid_request', `These settings are not valid: ${sentence}.`, { details })
}

function isMediaType(text: string): boolean {
  // A header is one byte a character.
  return MEDIA_TYPE.test(text) && !/[^\u0020-\u007e]/.test(text)
}

function secretRequired(): Fault {
  const details = [{ path: 'signature.secret', message: 'is required' }]
  return new Fault('invalid_request', 'signature.secret is required: no secret is stored yet.', { details })
}

function endpointNotFound(): Fault {
  return new Fault('not_found', 'The webhook endpoint was not found.')
}
