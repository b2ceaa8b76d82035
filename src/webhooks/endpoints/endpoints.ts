import type { Kysely } from 'kysely'
import { closeIncident, closeIncidentsOf } from '../../alerts/incidents.sql.ts'
import { Fault, type FaultDetail } from '../../errors.ts'
import type { SignatureScheme } from '../../protocols/webhook-signature.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import type { EncryptedColumn } from '../../store/key-rotation.ts'
import { encrypt, tryDecrypt } from '../../store/encryption.ts'
import { notify, type Notifications } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import { signatureIncident, silenceIncident } from '../alerts/evaluate-endpoints.ts'
import {
  carryUnreportedCalls,
  deleteAlertSettings,
  NO_ALERTS,
  saveAlertSettings,
  type AlertSettings,
} from '../alerts/endpoint-alerts.sql.ts'
import {
  configuredResponse,
  encodeBody,
  type CaptureResponse,
} from '../capture/capture-responses.ts'
import { parseField } from '../conditions/request-values.ts'
import type { Header } from '../headers.ts'
import { MAX_ENDPOINTS_PER_WORKSPACE } from '../limits.ts'
import { deleteRequests } from '../requests/captured-requests.sql.ts'
import { newEmailToken } from '../email/endpoint-email.ts'
import { newEndpointToken } from '../endpoint-token.ts'
import { listCaptureDestinations } from '../forwarding/destinations.sql.ts'
import { markOf } from '../forwarding/forwarding-marks.ts'
import { prepareDestinations, type PreparedDestination } from '../forwarding/prepare-deliveries.ts'
import { knownListener, type KnownListener } from '../listeners/known-listener.ts'
import { findListener } from '../listeners/listeners.sql.ts'
import { prepareRules, type PreparedRules } from '../rules/prepare-rules.ts'
import { listRules } from '../rules/webhook-rules.sql.ts'
import { nameTaken, requireName, type NamePolicy } from './endpoint-name.ts'
import { findWrongHeaders, sendableHeaders } from './response-headers.ts'
import { findWrongBody } from './response-settings.ts'
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
  findEndpointByKey,
  findIdByName,
  holdName,
  insertEndpoint,
  isNameFree,
  updateEndpoint,
  type EndpointChange,
  type EndpointRow,
  type EncryptedEndpoint,
} from './endpoints.sql.ts'

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
  /** Null where there are none, so that a capture does nothing for them. */
  rules: PreparedRules | null
  /** The listener that answers senders, as last known; null for none. */
  listener: KnownListener | null
  /** Where requests are forwarded; null for nowhere. */
  destinations: PreparedDestination[] | null
  /** Where the key of repeated requests is found; null for the usual headers. */
  repeatKey: string | null
  /** By which the endpoint recognizes requests that it forwarded itself. */
  forwardingMark: string
  /** How senders sign, where a rule or a destination depends on it. */
  verification: { scheme: SignatureScheme; secret: string } | null
  /** Further headers of the response. */
  responseHeaders: Header[]
}

/** The settings that an owner can change. Omitted settings stay unchanged. */
export type EndpointSettings = {
  /** Whether it receives mail. A new address each time it is turned on. */
  receivesEmail?: boolean | undefined
  name?: string | null | undefined
  label?: string | undefined
  labels?: string[] | undefined
  responseStatus?: number | undefined
  responseBody?: string | undefined
  responseType?: string | undefined
  responseHeaders?: Header[] | undefined
  template?: boolean | undefined
  cors?: boolean | undefined
  timeout?: number | undefined
  signature?: (SignatureScheme & { secret?: string | undefined }) | null | undefined
  repeatKey?: string | null | undefined
  alerts?: { [K in keyof AlertSettings]?: AlertSettings[K] | undefined } | undefined
}

type Deps = { db: Kysely<DB>; secretKey: string }

/** The installation’s choices about endpoints. */
export type EndpointPolicy = {
  namePolicy: NamePolicy
  /** Whether captures have another host than the dashboard. */
  hasOwnOrigin: boolean
  /** Whether requests are forwarded at all. */
  forwards: boolean
  /** The domain of the addresses of endpoints; null where the service receives no mail. */
  emailDomain: string | null
}

/** Who changes endpoints, and for which workspace. */
export type EndpointOwner = { workspaceId: string; admin: boolean }

type ChangeDeps = Deps & EndpointPolicy

const CHANGED = 'webhook.endpoint'

/** @param names the chosen name, and the one before the change */
export type EndpointChanged = { id: string; token: string; names?: string[] }

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

/** @throws Fault `conflict` when the workspace has too many, `invalid_request`, `forbidden` */
export async function createEndpoint(
  deps: ChangeDeps,
  owner: EndpointOwner,
  settings: EndpointSettings,
): Promise<EndpointRow> {
  validateSettings(settings)
  if (typeof settings.name === 'string') requireName(settings.name, deps.namePolicy, owner.admin)
  return withFreeName(settings.name, () =>
    deps.db.transaction().execute((trx) => insertCompletely(trx, deps, owner, settings)),
  )
}

async function insertCompletely(
  trx: Db,
  deps: ChangeDeps,
  { workspaceId }: EndpointOwner,
  settings: EndpointSettings,
): Promise<EndpointRow> {
  if ((await countEndpoints(trx, workspaceId)) >= MAX_ENDPOINTS_PER_WORKSPACE) {
    const sentence = `A workspace can have up to ${MAX_ENDPOINTS_PER_WORKSPACE} webhook endpoints. Delete one that is no longer used.`
    throw new Fault('conflict', sentence)
  }
  const { signature, alerts, receivesEmail, ...plain } = settings
  requireEmail(deps, receivesEmail)
  if (plain.name && !(await isNameFree(trx, workspaceId, plain.name))) throw nameTaken(plain.name)
  const made = await insertEndpoint(trx, {
    workspaceId,
    token: newEndpointToken(),
    ...(receivesEmail && { emailToken: newEmailToken() }),
    ...pickGiven(plain),
  })
  requireFittingHeaders(made, deps)
  const sealed = encryptSignature(signature, made.id, deps.secretKey)
  const row = sealed ? await updateEndpoint(trx, workspaceId, made.id, sealed) : made
  await notifyEndpointChange(trx, workspaceId, made)
  return changeAlerts(trx, workspaceId, row ?? made, alerts)
}

/**
 * Changes the given settings, for every instance.
 * @throws Fault `not_found`, `invalid_request`, `forbidden`, `conflict` for a name that is taken
 */
export async function changeEndpoint(
  deps: ChangeDeps,
  owner: EndpointOwner,
  id: string,
  settings: EndpointSettings,
): Promise<EndpointRow> {
  validateSettings(settings)
  return withFreeName(settings.name, () =>
    deps.db.transaction().execute((trx) => changeCompletely(trx, deps, owner, { id, settings })),
  )
}

async function changeCompletely(
  trx: Db,
  deps: ChangeDeps,
  owner: EndpointOwner,
  { id, settings }: { id: string; settings: EndpointSettings },
): Promise<EndpointRow> {
  const { secretKey } = deps
  const { workspaceId } = owner
  const { signature, alerts, receivesEmail, ...plain } = settings
  requireEmail(deps, receivesEmail)
  const before = await requireEndpoint(trx, workspaceId, id)
  if (signature && signature.secret === undefined && before.signatureSecret === null)
    throw secretRequired()
  requireOtherSecret(before, signature, secretKey)
  requireFittingHeaders({ ...before, ...pickGiven(plain) }, deps)
  await changeName(trx, deps, owner, { before, name: plain.name })
  const change = {
    ...pickGiven(plain),
    ...(receivesEmail !== undefined && {
      emailToken: receivesEmail ? (before.emailToken ?? newEmailToken()) : null,
    }),
    ...encryptSignature(signature, id, secretKey),
  }
  const row = await updateEndpoint(trx, workspaceId, id, change)
  if (!row) throw endpointNotFound()
  await notifyEndpointChange(trx, workspaceId, row, before.name)
  return changeAlerts(trx, workspaceId, row, alerts)
}

/** Creates or changes the endpoint of a name, so that a setup can be repeated. */
export async function putEndpointByName(
  deps: ChangeDeps,
  owner: EndpointOwner,
  name: string,
  settings: EndpointSettings,
): Promise<{ endpoint: EndpointRow; isNew: boolean }> {
  validateSettings(settings)
  requireName(name, deps.namePolicy, owner.admin)
  return withFreeName(name, () =>
    deps.db.transaction().execute(async (trx) => {
      // Locks the workspace, so that two callers do not create it both.
      await countEndpoints(trx, owner.workspaceId)
      const id = await findIdByName(trx, owner.workspaceId, name)
      const named = { ...settings, name }
      return id === undefined
        ? { endpoint: await insertCompletely(trx, deps, owner, named), isNew: true }
        : {
            endpoint: await changeCompletely(trx, deps, owner, { id, settings: named }),
            isNew: false,
          }
    }),
  )
}

async function changeName(
  trx: Db,
  { namePolicy }: ChangeDeps,
  { workspaceId, admin }: EndpointOwner,
  { before, name }: { before: EndpointRow; name: string | null | undefined },
): Promise<void> {
  if (name === undefined || name === before.name) return
  if (name !== null) {
    requireName(name, namePolicy, admin)
    if (!(await isNameFree(trx, workspaceId, name))) throw nameTaken(name)
  }
  if (before.name !== null) await holdName(trx, workspaceId, before.name)
}

/** The SQLSTATE of a unique_violation: another workspace took the name at the same moment. */
const UNIQUE_VIOLATION = '23505'

async function withFreeName<T>(
  name: string | null | undefined,
  change: () => Promise<T>,
): Promise<T> {
  try {
    return await change()
  } catch (error) {
    if (name && (error as { code?: string }).code === UNIQUE_VIOLATION) throw nameTaken(name)
    throw error
  }
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
    const { name } = await requireEndpoint(trx, workspaceId, id)
    const token = await deleteEndpoint(trx, workspaceId, id)
    if (token === undefined) throw endpointNotFound()
    await closeIncidentsOf(trx, workspaceId, `/hooks/${id}`)
    await notifyEndpointChange(trx, workspaceId, { id, token, name })
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

/** Loads the endpoint of a token or a chosen name, prepared for captures. */
export async function loadEndpoint(
  {
    db,
    secretKey,
    hasOwnOrigin,
    forwards,
  }: Deps & Pick<EndpointPolicy, 'hasOwnOrigin' | 'forwards'>,
  key: string,
): Promise<Endpoint | null> {
  const row = await findEndpointByKey(db, key)
  if (!row) return null
  const rows = await listRules(db, row.id)
  const isFilled = row.template || rows.some(({ answers }) => answers.some((one) => one.template))
  const secret = isFilled ? await findResponseSecret(db, row, secretKey) : ''
  const template = row.template ? { text: row.responseBody, secret } : null
  const { id, responsibleId, cors, timeout, responseType } = row
  const rules = prepareRules(rows, { cors, secret, hasOwnOrigin })
  const destinations = forwards
    ? prepareDestinations(await listCaptureDestinations(db, row.id))
    : []
  const listener = await findListener(db, row.id)
  const readVerified = rules.readVerified || destinations.some((one) => one.readsVerified)
  const responseHeaders = sendableHeaders(row.responseHeaders ?? [], hasOwnOrigin)
  return {
    id,
    responsibleId,
    cors,
    timeout,
    responseType,
    response: configuredResponse(row, encodeBody(row.responseBody), responseHeaders),
    template,
    rules: rules.all.length > 0 ? rules : null,
    listener: listener ? knownListener(listener) : null,
    destinations: destinations.length > 0 ? destinations : null,
    repeatKey: row.repeatKey,
    forwardingMark: destinations.length > 0 ? markOf(row.id, secretKey) : '',
    verification: readVerified ? findVerification(row, secretKey) : null,
    responseHeaders,
  }
}

function findVerification(
  row: Pick<EncryptedEndpoint, 'id' | 'signature' | 'signatureSecret'>,
  secretKey: string,
): Endpoint['verification'] {
  const secret = decryptSignatureSecret(row, secretKey)
  return secret === null || row.signature === null ? null : { scheme: row.signature, secret }
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

/**
 * Notifies every instance that an endpoint changed.
 * @param nameBefore its name before the change
 */
export async function notifyEndpointChange(
  db: Db,
  workspaceId: string,
  { id, token, name }: Pick<EndpointRow, 'id' | 'token' | 'name'>,
  nameBefore: string | null = null,
): Promise<void> {
  const names = [name, nameBefore].filter((one) => one !== null)
  await notify(db, CHANGED, { id, token, ...(names.length > 0 && { names }) })
  await notifyChange(db, workspaceId, 'webhooks', id)
}

type Plain = Omit<EndpointSettings, 'signature' | 'alerts' | 'receivesEmail'>

/**
 * The settings that are stored as given. Other fields of a request, such as a workspace ID, must not
 * reach the row.
 */
const PLAIN_FIELDS = [
  'name',
  'label',
  'labels',
  'responseStatus',
  'responseBody',
  'responseType',
  'responseHeaders',
  'template',
  'cors',
  'timeout',
  'repeatKey',
] as const

/** Picks the given settings: the database would set an undefined field to null. */
function pickGiven(settings: Plain): { [K in keyof Plain]?: Exclude<Plain[K], undefined> } {
  return Object.fromEntries(
    PLAIN_FIELDS.flatMap((name) => (settings[name] === undefined ? [] : [[name, settings[name]]])),
  )
}

function validateSettings({
  responseBody,
  responseType,
  signature,
  repeatKey,
}: EndpointSettings): void {
  const details = findWrongBody(
    { body: responseBody, type: responseType },
    { body: 'responseBody', type: 'responseType' },
  )
  if (signature?.scheme === 'hmac' && signature.header === undefined) {
    details.push({ path: 'signature.header', message: 'is required for the scheme hmac' })
  }
  if (repeatKey && parseField(repeatKey) === null)
    details.push({ path: 'repeatKey', message: 'must be a field such as headers.x-id or body/id' })
  requireNone(details)
}

/** Some headers depend on the status, and either may be stored already. */
function requireFittingHeaders(
  { responseHeaders, responseStatus }: Pick<EndpointRow, 'responseHeaders' | 'responseStatus'>,
  { hasOwnOrigin }: Pick<EndpointPolicy, 'hasOwnOrigin'>,
): void {
  if (responseHeaders === null) return
  const at = { path: 'responseHeaders', status: responseStatus, hasOwnOrigin }
  requireNone(findWrongHeaders(responseHeaders, at))
}

function requireNone(details: FaultDetail[]): void {
  if (details.length === 0) return
  const sentence = details.map(({ path, message }) => `${path} ${message}`).join('; ')
  throw new Fault('invalid_request', `These settings are not valid: ${sentence}.`, { details })
}

/** @throws Fault `invalid_request` where the service receives no mail */
function requireEmail({ emailDomain }: EndpointPolicy, receivesEmail: boolean | undefined): void {
  if (!receivesEmail || emailDomain !== null) return
  requireNone([
    { path: 'receivesEmail', message: 'needs a service that receives mail (SMTP_LISTEN)' },
  ])
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
