import { createHmac } from 'node:crypto'
import { Type, type Static, type TObject } from 'typebox'
import { Value } from 'typebox/value'
import type { PrivateTargets } from '../../config.ts'
import { Fault } from '../../errors.ts'
import { parseHost } from '../../net/address.ts'
import { refuseAddress } from '../../net/guard.ts'
import { decrypt, encrypt } from '../../store/encryption.ts'
import { CHAT_GIVE_UP_MS, CHAT_RETRY_DELAYS_MS, WEBHOOK_DEADLINE_MS } from '../limits.ts'
import type {
  ChannelGroup,
  ChannelType,
  Handling,
  OutgoingMessage,
  SendDeps,
  SendResult,
} from './channel-type.ts'
import {
  maskSettings,
  requestOf,
  secretsOf,
  selfHostedOf,
  withDefaults,
  type Settings,
} from './fields.ts'
import { createHttp, type Http } from './http.ts'
import { actionLinksOf, type ActionLink } from '../silence/links/action-links.ts'
import { composeNotification, type Notification, type TextLimits } from './notification.ts'
import { Dead, Rejected } from './outcomes.ts'
import { channelSettings } from './settings.ts'
import { secretContext, type ChannelRow, type PreparedChannel } from './store.ts'

/** One message for a service; `title` and `text` are cut and not escaped. */
export type Delivery = Notification & {
  /** The same at every attempt. */
  id: string
  /** Links with which people act on the incident; empty where there are none. */
  actions: readonly ActionLink[]
  /** Names the problem (`blacklist/8.8.4.4/zone`); null for an event without an end, or a group. */
  incident: string | null
  /** What an earlier message about this incident returned; null where there is none. */
  ref: string | null
}

type Sent<Fields extends TObject> = {
  ref?: string | undefined
  changed?: Partial<Static<Fields>> | undefined
}

/** What is wrong with the value of a field, in a sentence without the value. */
export type SettingsProblem = { field: string; sentence: string }

export type ChannelDefinition<Fields extends TObject> = {
  /** Value of `type` in the API, and name of the file and the docs page. */
  id: string
  name: string
  group: ChannelGroup
  /** Further words by which people look for it, such as the name of its maker. */
  keywords?: string
  /** What to create at the service, in a sentence. */
  docs: string
  /** What the end of a problem does, in a sentence, for the docs page. */
  ending: string
  /** Responses that disable the channel, in a sentence, for the docs page. */
  disabling: string
  fields: Fields
  /** Characters of title and text, and messages a minute. */
  limits: TextLimits & { perMinute: number }
  /** Short name of a channel with these settings, where the shown ones do not tell. */
  nameOf?: (shown: Partial<Static<Fields>>) => string
  /** Why settings that fit the fields cannot work; null where they can. */
  problemWith?: (settings: Static<Fields>) => SettingsProblem | null
  /** Whether each alert is sent alone, as paging services need it. */
  isPaging?: boolean
  /** Whether the service recognises a repeated message, so that it can be repeated in doubt. */
  isIdempotent?: boolean
  /**
   * Sends one message.
   * @returns `ref` where the message can be changed later, and `changed` with settings that the
   *   service replaced
   * @throws Later, Dead, Rejected
   */
  send: (
    delivery: Delivery,
    settings: Static<Fields>,
    tools: { http: Http },
  ) => Promise<Sent<Fields> | void>
  /**
   * Shows who handles an incident, without notifying anyone; `delivery` is its last alert. Edits of
   * messages may fail unnoticed.
   */
  showHandling?: (
    delivery: Delivery & { handling: Handling },
    settings: Static<Fields>,
    tools: { http: Http },
  ) => Promise<void>
}

/** Makes a channel type whose settings are one encrypted JSON. */
export function defineChannel<Fields extends TObject>(
  definition: ChannelDefinition<Fields>,
): ChannelType {
  const {
    id,
    name,
    group,
    keywords = '',
    docs,
    fields,
    limits,
    isPaging = false,
    isIdempotent = false,
  } = definition
  return {
    id,
    name,
    group,
    keywords,
    docs,
    fields,
    manual: { ending: definition.ending, disabling: definition.disabling, limits },
    schema: Type.Object({
      type: Type.Literal(id),
      settings: requestOf(fields),
      ...channelSettings,
    }),
    targetField: null,
    grouping: isPaging ? 'never' : 'bursts',
    perMinute: limits.perMinute,
    retryDelaysMs: CHAT_RETRY_DELAYS_MS,
    giveUpAfterMs: CHAT_GIVE_UP_MS,
    isIdempotent,
    showsHandling: definition.showHandling !== undefined,
    hasActionLinks: group === 'chat',
    isEmail: false,
    deadlineMs: WEBHOOK_DEADLINE_MS,
    testDeadlineMs: WEBHOOK_DEADLINE_MS,
    prepare: (channelId, { settings = {} }, deps) =>
      prepare(definition, channelId, withDefaults(fields, settings), deps),
    change(channel, given, deps) {
      const settings = open(channel, deps.secretKey)
      requireSecretsAgain(fields, settings, given)
      return prepare(definition, channel.id, { ...settings, ...given }, deps)
    },
    secretOf: () => null,
    problem: () => null,
    maskTarget: () => '',
    nameOf: ({ settingsShown }) => nameOf(definition, settingsShown ?? {}),
    send: (message, deps, signal) => send(definition, message, deps, signal),
    isFinal: (error) => error instanceof Rejected,
    isGone: () => false,
  }
}

function nameOf<Fields extends TObject>(
  { name, fields, nameOf: own }: ChannelDefinition<Fields>,
  shown: Settings,
): string {
  if (own) return own(shown as Partial<Static<Fields>>)
  const [first] = secretsOf(fields)
  const value = first === undefined ? undefined : shown[first]
  return value === undefined ? name : `${name} (${value})`
}

function prepare<Fields extends TObject>(
  { fields, problemWith }: ChannelDefinition<Fields>,
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

/**
 * Recognises the same settings of channels of one type, without telling them.
 * @param text the settings as JSON
 */
export function hashSettings(text: string, secretKey: string): string {
  const sorted = Object.entries(JSON.parse(text) as Settings).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )
  return createHmac('sha256', `alert channel ${secretKey}`)
    .update(JSON.stringify(sorted))
    .digest('base64url')
}

/** @throws Fault `invalid_request`, which never contains a value */
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
 * Refuses to send stored secrets to another server: whoever may change a channel could read them
 * there.
 */
function requireSecretsAgain(fields: TObject, settings: Settings, given: Settings): void {
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
    refuseAddress(parseHost(new URL(value).hostname, `settings.${name}`), anyOf(deps))
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'target_not_allowed') throw error
    const sentence = error.message.replace('ALLOW_PRIVATE_TARGETS', 'ALERT_PRIVATE_TARGETS')
    const details = [{ path: `settings.${name}`, message: sentence }]
    throw new Fault('target_not_allowed', sentence, { details })
  }
}

/** Private networks that a self-hosted service may be in. */
function anyOf({ allowPrivate, alertPrivate }: SendDeps): PrivateTargets {
  if (allowPrivate === true || alertPrivate === true) return true
  const all = [...(allowPrivate || []), ...(alertPrivate || [])]
  return all.length > 0 ? all : false
}

function open({ id, settingsEncrypted }: ChannelRow, secretKey: string): Settings {
  return JSON.parse(decrypt(settingsEncrypted ?? '', secretKey, secretContext(id))) as Settings
}

async function send<Fields extends TObject>(
  definition: ChannelDefinition<Fields>,
  { id, channel, alerts, ref, handling, beforeHandover }: OutgoingMessage,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<SendResult> {
  const { name, fields, limits, isIdempotent } = definition
  const settings = open(channel, deps.secretKey)
  let words: string | undefined
  const http = createHttp({
    name,
    resolver: deps.resolver,
    allowPrivate: selfHostedOf(fields).length > 0 ? anyOf(deps) : deps.allowPrivate,
    secrets: secretsOf(fields).flatMap((field) => partsOf(settings[field])),
    origins: deps.origins,
    // In doubt it is repeated, which the service recognises.
    beforeRequest: isIdempotent ? async () => {} : beforeHandover,
    onResponse: (response) => (words = response.words),
    signal,
  })
  const [alert] = alerts
  const delivery: Delivery = {
    ...composeNotification(alerts, limits, { ...channel, baseUrl: deps.baseUrl }),
    id,
    actions: actionLinksOf(alerts, channel, deps),
    incident: alerts.length === 1 ? (alert?.incident ?? null) : null,
    ref,
  }
  if (handling) {
    await definition.showHandling?.({ ...delivery, handling }, settings as Static<Fields>, { http })
    return { words }
  }
  const sent = await definition.send(delivery, settings as Static<Fields>, { http })
  return { ref: sent?.ref, changed: sent?.changed as Settings | undefined, words }
}

/** Shorter values in a URL, such as `v=1`, are no secrets. */
const MIN_SECRET_LENGTH = 6

/** A secret, and of a URL also its path and query, which are what makes it one. */
function partsOf(secret = ''): string[] {
  if (!URL.canParse(secret)) return [secret]
  const { pathname, search, searchParams } = new URL(secret)
  const values = [search.slice(1), ...search.slice(1).split('&'), ...searchParams.values()]
  const isSecret = (value: string) => value.length >= MIN_SECRET_LENGTH
  return [secret, pathname.length > 1 ? pathname : '', ...values.filter(isSecret)]
}

/**
 * Throws `Dead` where the words of the service say that the settings no longer work, else
 * `Rejected`; returns for a success.
 */
export function requireSuccess(
  { status, words }: { status: number; words: string },
  isDead: boolean,
): void {
  if (status >= 200 && status < 300) return
  throw isDead ? new Dead(words) : new Rejected(words)
}
