// Parts of pages that people write, which `npm run reference` writes from the code.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Registry } from 'prom-client'
import { createFleetMetrics } from '../src/fleet/figures/routes.ts'
import { PUBLIC_FEEDS } from '../src/public-feeds/feed-catalogue.ts'
import { OUTCOME_TEXTS } from '../src/deliverability/canary/placement-outcome.ts'
import { MAIL_CHECKS } from '../src/deliverability/mail-tests/analysis/analyze-mail.ts'
import { evaluateReceivers } from '../src/deliverability/mail-tests/analysis/receivers.ts'
import { addBackupReadings, addReadings, createMetrics } from '../src/http/metrics/metrics.ts'
import {
  ADDITIONAL,
  DIFFERENCES,
  LEVEL_TEXTS,
  MISSING,
  VERDICT_TEXTS,
} from '../src/migration/proof/messages.ts'
import { ALERT_KINDS } from './alert-kinds.ts'
import { settingsTable } from './configuration.ts'
import { table } from './formatted.ts'
import { ROOT } from './run.ts'

const PARTS: Readonly<Record<string, () => string>> = {
  alerts_cutover: () => alertsTable('cutover'),
  alerts_dmarc: () => alertsTable('dmarc'),
  alerts_domain: () => alertsTable('domain'),
  alerts_network: () => alertsTable('network'),
  canary_outcomes: () => wordsTable(['outcome', 'meaning'], OUTCOME_TEXTS),
  feeds: feedsTable,
  fleet_metrics: () => metricsTable(createFleetMetrics([], 0)),
  mail_test_checks: mailChecksTable,
  mail_test_receivers: receiversTable,
  metrics: () => metricsTable(serviceMetrics()),
  fields_alerts: () =>
    fieldsTable(
      'WebhookSettings',
      ['silentAfterMinutes', 'badSignature', 'calledEveryMinutes'],
      'alerts',
    ),
  fields_response: () =>
    fieldsTable('WebhookSettings', [
      'responseStatus',
      'responseBody',
      'responseType',
      'responseHeaders',
      'timeout',
      'cors',
      'template',
      'label',
    ]),
  fields_destination: () =>
    fieldsTable('NewWebhookDestination', [
      'url',
      'when',
      'skipRepeats',
      'headers',
      'change',
      'sign',
      'order',
      'concurrency',
      'perMinute',
      'timeoutSeconds',
      'schedule',
      'finalStatuses',
    ]),
  fields_request: () =>
    fieldsTable('WebhookRequest', [
      'path',
      'query',
      'headers',
      'body',
      'bodySize',
      'ip',
      'aborted',
      'rejected',
      'preflight',
      'answeredBy',
      'repeatOf',
      'durationMs',
    ]),
  fields_rule: () =>
    fieldsTable('NewWebhookRule', [
      'when',
      'answers',
      'after',
      'key',
      'keyMinutes',
      'label',
      'enabled',
    ]),
  fields_rule_answer: () =>
    fieldsTable(
      'NewWebhookRule',
      ['status', 'headers', 'body', 'type', 'template', 'delayMs', 'fault', 'times'],
      'answers',
    ),
  parameters_hosts: () => parametersTable('/api/v1/monitoring/hosts'),
  parameters_requests: () => parametersTable('/api/webhook/endpoints/{id}/requests'),
  proof_additional: () => reasonsTable(ADDITIONAL),
  proof_differences: () => reasonsTable(DIFFERENCES),
  proof_missing: () => reasonsTable(MISSING),
  proof_levels: () => wordsTable(['level', 'what is compared'], LEVEL_TEXTS),
  proof_verdicts: () => wordsTable(['verdict', 'meaning'], VERDICT_TEXTS),
  settings_backups: () => settingsTable(/^BACKUP_(?!ARCHIVE|S3_)/),
  settings_mail_tests: () => settingsTable(/^(?:RSPAMD_URL|SPAMD_ADDRESS)$/),
  settings_oidc: () => settingsTable(/^OIDC_(?!ISSUER|CLIENT)|^PASSWORD_SIGN_IN$/),
  settings_reports: () => settingsTable(/^(?:SMTP_LISTEN|SMTP_TLS|REPORT_|REPORTS_KEPT)/),
}

/**
 * The text of a part by its name.
 * @throws RangeError for a name that no part has
 */
export function partText(name: string): string {
  const part = PARTS[name]
  if (!part) throw new RangeError(`No part of a page is called ${name}.`)
  return part()
}

function alertsTable(module: string): string {
  const rows = Object.entries(ALERT_KINDS)
    .filter(([kind]) => kind.startsWith(`${module}.`))
    .map(([kind, event]) => [`\`${kind}\``, event])
  return table(['alert', 'event'], rows)
}

function mailChecksTable(): string {
  const rows = MAIL_CHECKS.map(({ title, severity, rule, source }) => [
    title,
    severity,
    rule,
    source,
  ])
  return table(['check', 'a failure', 'rule', 'source'], rows)
}

function receiversTable(): string {
  const rows = evaluateReceivers([]).map(({ title, requirements }) => [
    title,
    requirements.map((requirement) => requirement.title).join('; '),
  ])
  return table(['receiver', 'requirements'], rows)
}

function feedsTable(): string {
  const duration = (hours: number) => (hours < 48 ? `${hours} h` : `${hours / 24} days`)
  const rows = PUBLIC_FEEDS.map((feed) => [
    `\`${feed.id}\``,
    feed.provider,
    feed.description,
    duration(feed.intervalHours),
    duration(feed.maxAgeHours),
    feed.terms,
  ])
  return table(['id', 'provider', 'contents', 'every', 'in use for up to', 'terms'], rows)
}

function serviceMetrics(): Registry {
  const metrics = createMetrics('')
  metrics.setFreeBytes(0)
  addReadings(metrics, {
    pool: { totalCount: 0, idleCount: 0, waitingCount: 0 },
    countJobs: async () => [],
    countDeliveries: async () => [],
    isReady: async () => true,
  })
  addBackupReadings(metrics, () => null)
  return metrics.registry
}

function metricsTable(registry: Registry): string {
  const rows = registry
    .getMetricsAsArray()
    .filter(({ name }) => name.startsWith('portreeve_'))
    .map((metric) => {
      const { name, help, labelNames = [] } = metric as typeof metric & { labelNames?: string[] }
      return [`\`${name}\``, labelNames.map((label) => `\`${label}\``).join(', '), help]
    })
  return table(['metric', 'labels', 'description'], rows)
}

type Texts = Readonly<Record<string, string>>

const wordsTable = (head: readonly string[], texts: Texts) =>
  table(
    head,
    Object.entries(texts).map(([word, text]) => [`\`${word}\``, text]),
  )

const reasonsTable = (reasons: Texts) => wordsTable(['reason', 'the message'], reasons)

type Parameter = {
  in: string
  name: string
  description?: string
  schema: { minimum?: number; maximum?: number; enum?: string[]; default?: string | number }
}

/** The parameters of the query of `GET` on a path, as openapi.json has them. */
type Fields = Record<string, Field>
type Field = { description?: string; items?: Field; properties?: Fields }

/**
 * The fields of a schema that have a description, or those of one of its objects or lists of them.
 * @param names of the fields, in this order
 */
function fieldsTable(schema: string, names: string[], list?: string): string {
  const document = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as {
    components: { schemas: Record<string, { properties: Fields }> }
  }
  const all = document.components.schemas[schema]?.properties ?? {}
  const fields = list === undefined ? all : ((all[list]?.items ?? all[list])?.properties ?? {})
  const rows = names.map((name) => [`\`${name}\``, fields[name]?.description ?? ''])
  return table(['field', 'meaning'], rows)
}

function parametersTable(path: string): string {
  const document = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as {
    paths: Record<string, { get: { parameters: Parameter[] } }>
  }
  const rows = (document.paths[path]?.get.parameters ?? [])
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema, description = '' }) => [`\`${name}\``, valuesOf(schema), description])
  return table(['parameter', 'values', 'meaning'], rows)
}

function valuesOf({ minimum, maximum, enum: names = [], default: value }: Parameter['schema']) {
  const range = maximum === undefined ? '' : `${minimum} to ${maximum.toLocaleString('en')}`
  // A list is also sorted the other way round.
  const choices = names.filter((name) => !name.startsWith('-')).map((name) => `\`${name}\``)
  const usual = value === undefined ? '' : `\`${value}\` by default`
  return [range || choices.join(', '), usual].filter((text) => text !== '').join('; ')
}
