import { ifDecryptable } from '../../store/encryption.ts'
import { Type, type Static, type TObject } from 'typebox'
import { CHAT_GIVE_UP_MS, CHAT_RETRY_DELAYS_MS, WEBHOOK_DEADLINE_MS } from '../limits.ts'
import { actionLinksOf, type ActionLink } from '../silence/links/action-links.ts'
import type {
  ChannelGroup,
  ChannelType,
  Handling,
  OutgoingMessage,
  SendDeps,
  SendResult,
} from './channel-type.ts'
import {
  decryptSettings,
  prepareSettings,
  privateTargetsOf,
  requireSecretsAgain,
  type SettingsRules,
} from './encrypted-settings.ts'
import { requestOf, secretsOf, selfHostedOf, withDefaults, type Settings } from './fields.ts'
import { createHttp, type Http } from './http.ts'
import { composeNotification, type Notification, type TextLimits } from './notification.ts'
import { Rejected } from './outcomes.ts'
import { channelSettings } from './channel-settings.ts'

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

export type ChannelDefinition<Fields extends TObject> = SettingsRules<Fields> & {
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
  /** Characters of title and text, and messages a minute. */
  limits: TextLimits & { perMinute: number }
  /** Short name of a channel with these settings, where the shown ones do not tell. */
  nameOf?: (shown: Partial<Static<Fields>>) => string
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
      prepareSettings(definition, channelId, withDefaults(fields, settings), deps),
    change(channel, given, deps) {
      // Where this key does not decrypt them, all are entered again.
      const settings = ifDecryptable(() => decryptSettings(channel, deps.secretKey)) ?? {}
      requireSecretsAgain(fields, settings, given)
      return prepareSettings(definition, channel.id, { ...settings, ...given }, deps)
    },
    secretOf: () => null,
    problem: () => null,
    targetOf: () => '',
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

async function send<Fields extends TObject>(
  definition: ChannelDefinition<Fields>,
  { id, channel, alerts, ref, handling, beforeHandover }: OutgoingMessage,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<SendResult> {
  const { name, fields, limits, isIdempotent } = definition
  const settings = decryptSettings(channel, deps.secretKey)
  let words: string | undefined
  const http = createHttp({
    name,
    resolver: deps.resolver,
    allowPrivate: selfHostedOf(fields).length > 0 ? privateTargetsOf(deps) : deps.allowPrivate,
    secrets: secretsOf(fields).flatMap((field) => settings[field] ?? []),
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
