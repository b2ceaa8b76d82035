import { createHmac } from 'node:crypto'
import type { Static, TObject } from 'typebox'
import { Value } from 'typebox/value'
import type { PrivateTargets } from '../../setting-values.ts'
import { Fault } from '../../errors.ts'
import { parseHost } from '../../net/address.ts'
import { refuseAddress } from '../../net/guard.ts'
import { decrypt, encrypt } from '../../store/encryption.ts'
import type { EncryptedColumn } from '../../store/key-rotation.ts'
import { secretContext, type ChannelRow, type PreparedChannel } from './channel.ts'
import type { SendDeps } from './channel-type.ts'
import { maskSettings, secretsOf, selfHostedOf, type Settings } from './fields.ts'

/** What is wrong with the value of a field, in a sentence without the value. */
type SettingsProblem = { field: string; sentence: string }

/** The fields of a channel type, and what else its settings must be. */
export type SettingsRules<Fields extends TObject> = {
  fields: Fields
  /** Why settings that fit the fields cannot work; null where they can. */
  problemWith?: (settings: Static<Fields>) => SettingsProblem | null
}

/**
 * Validates and encrypts the settings of a channel.
 * @throws Fault `invalid_request`, `target_not_allowed`, which never contain a value
 */
export function prepareSettings<Fields extends TObject>(
  { fields, problemWith }: SettingsRules<Fields>,
  id: string,
  given: Settings,
  deps: SendDeps,
): PreparedChannel {
  const names = Object.keys(fields.properties)
  const settings = Object.fromEntries(
    names.flatMap((name) => (given[name] ? [[name, given[name].trim()]] : [])),
  )
  requireValid(fields, settings)
  const problem = problemWith?.(settings as Static<Fields>) ?? null
  if (problem !== null) throw invalidField(problem.field, problem.sentence)
  for (const name of selfHostedOf(fields)) requireReachable(name, settings[name], deps)
  const text = JSON.stringify(settings)
  return {
    target: hashSettings(text, deps.secretKey),
    secret: null,
    settingsEncrypted: encrypt(text, deps.secretKey, secretContext(id)),
    settingsShown: maskSettings(fields, settings),
  }
}

function invalidField(name: string, message: string): Fault {
  return new Fault('invalid_request', message, { details: [{ path: `settings.${name}`, message }] })
}

/** The setting of a channel whose target names the server of this URL. */
export const URL_FIELD = 'webhookUrl'

/**
 * The target of a channel: a hash of its settings, which tells it from others of its type.
 * @param text the settings as JSON
 */
export function targetOf(text: string, secretKey: string): string {
  const hash = hashSettings(text, secretKey)
  const url = (JSON.parse(text) as Settings)[URL_FIELD]
  return url === undefined ? hash : `${new URL(url).origin}/#${hash}`
}

/** The columns with the secrets and settings of channels. */
export const CHANNEL_ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  { table: 'alert_channel', id: 'id', column: 'secret', contextOf: secretContext },
  {
    table: 'alert_channel',
    id: 'id',
    column: 'settings_encrypted',
    contextOf: secretContext,
    derived: { column: 'target', of: targetOf },
  },
]

/**
 * Recognises the same settings of channels of one type, without telling them.
 * @param text the settings as JSON
 */
function hashSettings(text: string, secretKey: string): string {
  const sorted = Object.entries(JSON.parse(text) as Settings).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )
  return createHmac('sha256', `alert channel ${secretKey}`)
    .update(JSON.stringify(sorted))
    .digest('base64url')
}

function requireValid(fields: TObject, settings: Settings): void {
  const required = new Set(fields.required as readonly string[] | undefined)
  const details = Object.entries(fields.properties).flatMap(([name, field]) => {
    const path = `settings.${name}`
    if (settings[name] === undefined)
      return required.has(name) ? [{ path, message: 'is required' }] : []
    return Value.Check(field, settings[name]) ? [] : [{ path, message: 'is not valid' }]
  })
  const [first] = details
  if (!first) return
  throw new Fault('invalid_request', `The field ${first.path} ${first.message}.`, { details })
}

/**
 * Refuses to send stored secrets to another server: members who change a channel could read them
 * there.
 * @throws Fault `invalid_request`
 */
export function requireSecretsAgain(fields: TObject, settings: Settings, given: Settings): void {
  const isMoved = selfHostedOf(fields).some(
    (name) => given[name] !== undefined && given[name].trim() !== settings[name],
  )
  const missing = secretsOf(fields).find((name) => settings[name] && given[name] === undefined)
  if (!isMoved || missing === undefined) return
  const path = `settings.${missing}`
  throw new Fault('invalid_request', `The server changes: enter ${path} again.`, {
    details: [{ path, message: 'is required where the server changes' }],
  })
}

function requireReachable(name: string, value: string | undefined, deps: SendDeps): void {
  if (value === undefined) return
  try {
    refuseAddress(parseHost(new URL(value).hostname, `settings.${name}`), privateTargetsOf(deps))
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'target_not_allowed') throw error
    const sentence = error.message.replace('ALLOW_PRIVATE_TARGETS', 'ALERT_PRIVATE_TARGETS')
    const details = [{ path: `settings.${name}`, message: sentence }]
    throw new Fault('target_not_allowed', sentence, { details })
  }
}

/** Private networks that a self-hosted service may be in. */
export function privateTargetsOf({ allowPrivate, alertPrivate }: SendDeps): PrivateTargets {
  if (allowPrivate === true || alertPrivate === true) return true
  const all = [...(allowPrivate || []), ...(alertPrivate || [])]
  return all.length > 0 ? all : false
}

export function decryptSettings(
  { id, settingsEncrypted }: ChannelRow,
  secretKey: string,
): Settings {
  return JSON.parse(decrypt(settingsEncrypted ?? '', secretKey, secretContext(id))) as Settings
}
