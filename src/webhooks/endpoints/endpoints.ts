import type { Kysely } from 'kysely'
import { closeIncident, closeIncidentsOf } from '../../alerts/incidents/store.ts'
import { Fault, type FaultDetail } from '../../errors.ts'
import type { SignatureScheme } from '../../protocols/webhook-signature.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import type { EncryptedColumn } from '../../store/key-rotation.ts'
import { encrypt, tryDecrypt } from '../../store/encryption.ts'
import { notify, type Notifications } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import { signatureIncident, silenceIncident } from '../alerts/evaluate.ts'
import {
  carryUnreportedCalls,
  deleteAlertSettings,
  NO_ALERTS,
  saveAlertSettings,
  type AlertSettings,
} from '../alerts/store.ts'
import { configuredResponse, encodeBody, type CaptureResponse } from '../capture/responses.ts'
import { MAX_ENDPOINTS_PER_WORKSPACE, MAX_RESPONSE_BODY_BYTES } from '../limits.ts'
import { deleteRequests } from '../requests/store.ts'
import { newEndpointToken } from '../endpoint-token.ts'
import {
  ensureResponseSecret,
  newSecret,
  responseSecretContext,
  sameSecretFault,
} from './response-secret.ts'
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

/** The part of an endpoint that a capture needs, with its response prepared once. */
export type Endpoint = {
  id: string
  /** The account that answers for its workspace. */
  responsibleId: string
  cors: boolean
  timeout: number
  responseType: string
  response: CaptureResponse
  /** The template that is filled in for each request; null for a constant response. */
  template: { text: string; secret: string } | null
}

/** The settings that an owner can change. Omitted settings stay unchanged. */
export type EndpointSettings = {
  label?: string | undefined
  labels?: string[] | undefined
  responseStatus?: number | undefined
  responseBody?: string | undefined
  responseType?: string | undefined
  template?: boolean | undefined
  cors?: boolean | undefined
  timeout?: number | undefined
  signature?: (SignatureScheme & { secret?: string | undefined }) | null | undefined
  alerts?: { [K in keyof AlertSettings]?: AlertSettings[K] | undefined } | undefined
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
  const unsubscribers = [
    notifications.on(CHANGED, (payload) => changed(payload as EndpointChanged)),
    notifications.onReconnect(lost),
  ]
  return () => unsubscribers.forEach((unsubscribe) => unsubscribe())
}

/** @throws Fault `conflict` when the workspace has too many, `invalid_request` */
export async function createEndpoint(
  { db, secretKey }: Deps,
  workspaceId: string,
  settings: EndpointSettings,
): Promise<EndpointRow> {
  validateSettings(settings)
  return db.transaction().execute(async (trx) => {
    if ((await countEndpoints(trx, workspaceId)) >= MAX_ENDPOINTS_PER_WORKSPACE) {
      const sentence = `A workspace can have up to ${MAX_ENDPOINTS_PER_WORKSPACE} webhook endpoints. Delete one that is no longer used.`
      throw new Fault('conflict', sentence)
    }
    const { signature, alerts, ...plain } = settings
    const made = await insertEndpoint(trx, {
      workspaceId,
      token: newEndpointToken(),
      ...pickGiven(plain),
    })
    const sealed = encryptSignature(signature, made.id, secretKey)
    const row = sealed ? await updateEndpoint(trx, workspaceId, made.id, sealed) : made
    await notifyEndpointChange(trx, workspaceId, made)
    return changeAlerts(trx, workspaceId, row ?? made, alerts)
  })
}

/**
 * Changes the given settings, for every instance.
 * @throws Fault `not_found`, `invalid_request`
 */
export async function changeEndpoint(
  { db, secretKey }: Deps,
  workspaceId: string,
  id: string,
  settings: EndpointSettings,
): Promise<EndpointRow> {
  validateSettings(settings)
  const { signature, alerts, ...plain } = settings
  return db.transaction().execute(async (trx) => {
    const before = await requireEndpoint(trx, workspaceId, id)
    if (signature && signature.secret === undefined && before.signatureSecret === null)
      throw secretRequired()
    requireOtherSecret(before, signature, secretKey)
    const change = { ...pickGiven(plain), ...encryptSignature(signature, id, secretKey) }
    const row = await updateEndpoint(trx, workspaceId, id, change)
    if (!row) throw endpointNotFound()
    await notifyEndpointChange(trx, workspaceId, row)
    return changeAlerts(trx, workspaceId, row, alerts)
  })
}

/**
 * Changes the given alert settings of an endpoint. An alert that is turned off ends its incident.
 * @throws Fault `invalid_request` where signatures are not verified
 */
async function changeAlerts(
  db: Db,
  workspaceId: string,
  endpoint: EndpointRow,
  given: EndpointSettings['alerts'] = {},
): Promise<EndpointRow> {
  const { id, signature, alerts: before } = endpoint
  if (given.badSignature === true && signature === null) throw signatureRequired()
  const wanted = { ...before, ...definedOf(given) }
  const alerts = { ...wanted, badSignature: wanted.badSignature && signature !== null }
  if (isEqual(alerts, before)) return endpoint
  // Before the incidents, which an evaluation locks in this order, too.
  if (isEqual(alerts, NO_ALERTS)) await deleteAlertSettings(db, id)
  else await saveAlertSettings(db, id, alerts)
  if (alerts.silentAfterMinutes !== before.silentAfterMinutes)
    await closeIncident(db, workspaceId, silenceIncident(id))
  if (before.badSignature && !alerts.badSignature)
    await closeIncident(db, workspaceId, signatureIncident(id))
  return { ...endpoint, alerts }
}

function isEqual(one: AlertSettings, other: AlertSettings): boolean {
  return (Object.keys(NO_ALERTS) as (keyof AlertSettings)[]).every(
    (name) => one[name] === other[name],
  )
}

function definedOf<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const defined = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as { [K in keyof T]: Exclude<T[K], undefined> }
}

/** @throws Fault `not_found` */
export async function removeEndpoint(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<string> {
  return db.transaction().execute(async (trx) => {
    const token = await deleteEndpoint(trx, workspaceId, id)
    if (token === undefined) throw endpointNotFound()
    await closeIncidentsOf(trx, workspaceId, `/hooks/${id}`)
    await notifyEndpointChange(trx, workspaceId, { id, token })
    return token
  })
}

/**
 * Deletes all captured requests and resets the count.
 * @returns the number of deleted requests
 * @throws Fault `not_found`
 */
export async function clearRequests(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    await requireEndpoint(trx, workspaceId, id)
    await carryUnreportedCalls(trx, id)
    const row = await updateEndpoint(trx, workspaceId, id, { requestCount: 0 })
    if (!row) throw endpointNotFound()
    await notifyEndpointChange(trx, workspaceId, row)
    return deleteRequests(trx, id)
  })
}

/** @throws Fault `not_found`, also for another workspace's endpoint */
export async function requireEndpoint(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<EncryptedEndpoint> {
  const row = await findEndpoint(db, workspaceId, id)
  if (!row) throw endpointNotFound()
  return row
}

/** @throws Fault `not_found` */
export async function readResponseSecret(
  { db, secretKey }: Deps,
  workspaceId: string,
  id: string,
): Promise<string> {
  return ensureResponseSecret(db, await requireEndpoint(db, workspaceId, id), secretKey)
}

/**
 * Replaces the secret that responses are signed with, for every instance.
 * @param wanted the secret that a provider prescribes; by default a new one is generated
 * @throws Fault `not_found`, `invalid_request` for the secret that verifies senders
 */
export async function replaceResponseSecret(
  { db, secretKey }: Deps,
  workspaceId: string,
  id: string,
  wanted: string = newSecret(),
): Promise<{ secret: string; token: string }> {
  return db.transaction().execute(async (trx) => {
    const endpoint = await requireEndpoint(trx, workspaceId, id)
    if (decryptSignatureSecret(endpoint, secretKey) === wanted) throw sameSecretFault('secret')
    const row = await updateEndpoint(trx, workspaceId, id, {
      responseSecret: encrypt(wanted, secretKey, responseSecretContext(id)),
    })
    if (!row) throw endpointNotFound()
    await notifyEndpointChange(trx, workspaceId, row)
    return { secret: wanted, token: row.token }
  })
}

/** Loads the endpoint of a token, prepared for captures. */
export async function loadEndpoint(
  { db, secretKey }: Deps,
  token: string,
): Promise<Endpoint | null> {
  const row = await findEndpointByToken(db, token)
  if (!row) return null
  const secret = row.template ? await findResponseSecret(db, row, secretKey) : ''
  const template = row.template ? { text: row.responseBody, secret } : null
  const { id, responsibleId, cors, timeout, responseType } = row
  return {
    id,
    responsibleId,
    cors,
    timeout,
    responseType,
    response: configuredResponse(row, encodeBody(row.responseBody)),
    template,
  }
}

/**
 * The secret that responses are signed with. Where this key does not decrypt it, requests are
 * captured all the same, and responses are signed with a secret that verifies none.
 */
async function findResponseSecret(
  db: Db,
  row: Pick<EncryptedEndpoint, 'id' | 'responseSecret'>,
  secretKey: string,
): Promise<string> {
  try {
    return await ensureResponseSecret(db, row, secretKey)
  } catch (error) {
    if (error instanceof Fault && error.code === 'internal') return newSecret()
    throw error
  }
}

/** The secret that the sender signs with; null when none is set, or this key does not decrypt it. */
export function decryptSignatureSecret(
  { id, signatureSecret }: Pick<EncryptedEndpoint, 'id' | 'signatureSecret'>,
  secretKey: string,
): string | null {
  return signatureSecret && tryDecrypt(signatureSecret, secretKey, signatureContext(id))
}

function encryptSignature(
  signature: EndpointSettings['signature'],
  id: string,
  secretKey: string,
): EndpointChange | undefined {
  if (signature === undefined) return undefined
  if (signature === null) return { signature: null, signatureSecret: null }
  const { secret, ...scheme } = signature
  return {
    signature: scheme,
    ...(secret !== undefined && {
      signatureSecret: encrypt(secret, secretKey, signatureContext(id)),
    }),
  }
}

/**
 * @throws Fault `invalid_request` when the secret that verifies senders would also sign responses
 */
function requireOtherSecret(
  { id, responseSecret }: EncryptedEndpoint,
  signature: EndpointSettings['signature'],
  secretKey: string,
): void {
  if (!signature?.secret || responseSecret === null) return
  if (tryDecrypt(responseSecret, secretKey, responseSecretContext(id)) === signature.secret)
    throw sameSecretFault('signature.secret')
}

/** The columns with the secrets that verify senders and sign responses. */
export const ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  { table: 'webhook_endpoint', id: 'id', column: 'signature_secret', contextOf: signatureContext },
  {
    table: 'webhook_endpoint',
    id: 'id',
    column: 'response_secret',
    contextOf: responseSecretContext,
  },
]

function signatureContext(id: string): string {
  return `webhook/${id}/signature`
}

/** Notifies every instance that an endpoint changed. */
async function notifyEndpointChange(
  db: Db,
  workspaceId: string,
  { id, token }: EndpointChanged,
): Promise<void> {
  await notify(db, CHANGED, { id, token })
  await notifyChange(db, workspaceId, 'webhooks', id)
}

type Plain = Omit<EndpointSettings, 'signature' | 'alerts'>

/**
 * The settings that are stored as given. Other fields of a request, such as a workspace ID, must not
 * reach the row.
 */
const PLAIN_FIELDS = [
  'label',
  'labels',
  'responseStatus',
  'responseBody',
  'responseType',
  'template',
  'cors',
  'timeout',
] as const

/** Picks the given settings: the database would set an undefined field to null. */
function pickGiven(settings: Plain): { [K in keyof Plain]?: Exclude<Plain[K], undefined> } {
  return Object.fromEntries(
    PLAIN_FIELDS.flatMap((name) => (settings[name] === undefined ? [] : [[name, settings[name]]])),
  )
}

/** A media type (RFC 9110, 8.3.1) with parameters, without characters that would end the header. */
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w-]+=(?:"[^"\r\n]*"|[\w.+-]+))*$/
const MEDIA_TYPE_LENGTH = 127

function validateSettings({ responseBody, responseType, signature }: EndpointSettings): void {
  const details: FaultDetail[] = []
  if (
    responseType !== undefined &&
    !(responseType.length <= MEDIA_TYPE_LENGTH && isMediaType(responseType))
  ) {
    details.push({
      path: 'responseType',
      message: 'must be a media type such as text/plain; charset=utf-8',
    })
  }
  if (responseBody !== undefined && Buffer.byteLength(responseBody) > MAX_RESPONSE_BODY_BYTES) {
    details.push({
      path: 'responseBody',
      message: `must have up to ${MAX_RESPONSE_BODY_BYTES} bytes`,
    })
  }
  if (responseBody?.includes('\u0000'))
    details.push({ path: 'responseBody', message: 'must not have NUL characters' })
  if (signature?.scheme === 'hmac' && signature.header === undefined) {
    details.push({ path: 'signature.header', message: 'is required for the scheme hmac' })
  }
  if (details.length === 0) return
  const sentence = details.map(({ path, message }) => `${path} ${message}`).join('; ')
  throw new Fault('invalid_request', `These settings are not valid: ${sentence}.`, { details })
}

function isMediaType(text: string): boolean {
  // A header has one byte per character.
  return MEDIA_TYPE.test(text) && !/[^\u0020-\u007e]/.test(text)
}

function secretRequired(): Fault {
  const details = [{ path: 'signature.secret', message: 'is required' }]
  return new Fault('invalid_request', 'signature.secret is required: no secret is stored yet.', {
    details,
  })
}

function signatureRequired(): Fault {
  const details = [{ path: 'alerts.badSignature', message: 'requires signature' }]
  const sentence = 'alerts.badSignature requires signature: it says how the sender signs.'
  return new Fault('invalid_request', sentence, { details })
}

function endpointNotFound(): Fault {
  return new Fault('not_found', 'The webhook endpoint was not found.')
}
