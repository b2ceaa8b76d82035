import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { MAX_FEED_NETWORKS } from '../../../../src/fleet/limits.ts'
import { updateOptimistically } from '../../optimistic-update.ts'
import { accountQuery } from '../../queries.ts'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { Switch } from '../../ui/actions/switch.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Status, type Tone } from '../../ui/feedback/status.tsx'
import { Muted, Row } from '../../ui/layout/page.tsx'
import { TitledCard } from '../../ui/layout/titled-card.tsx'
import { Facts } from '../../ui/lists/facts.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { fleet, settingsQuery, type FleetSettings } from '../fleet/api.ts'
import { feeds, feedsQuery, type PublicFeed } from './api.ts'
import { feeds as messages } from './messages.ts'

type FeedCardProps = {
  feed: PublicFeed
  /** Names of lists by id. */
  nameOf: (list: string) => string
}

/** A feed: its state, its terms, and whether this workspace uses it. */
export function FeedCard({ feed, nameOf }: FeedCardProps) {
  const { name, label, description, enabled, problem, problemText, maxAgeHours } = feed
  const { tone, word } = statusOf(feed)
  return (
    <TitledCard title={name} aside={<Status tone={tone}>{word}</Status>}>
      <p>
        {label}. <Muted>{description}</Muted>
      </p>
      {problem && (
        <Notice tone="warn" title={messages.problems[problem]}>
          <p>{problemText}</p>
          <p>{messages.lastGood(maxAgeHours)}</p>
        </Notice>
      )}
      <FeedFacts feed={feed} nameOf={nameOf} />
      {enabled && <UseSwitch feed={feed} />}
      <AdministratorActions feed={feed} />
    </TitledCard>
  )
}

function statusOf({ state, problem }: PublicFeed): { tone: Tone; word: string } {
  const word = messages.states[state]
  if (state === 'expired') return { tone: 'bad', word }
  if (problem) return { tone: 'warn', word }
  return { tone: state === 'in-use' ? 'good' : state === 'waiting' ? 'info' : 'unknown', word }
}

function FeedFacts({ feed, nameOf }: FeedCardProps) {
  const { networks, addresses, skipped, changedAt, checkedAt, overlaps } = feed
  const { provider, homepage, terms, termsUrl, intervalHours, enabled } = feed
  const size = [messages.size(networks, addresses), skipped > 0 && messages.skipped(skipped)]
  const shared = overlaps.map(({ list, networks: common }) =>
    messages.overlap(nameOf(list), common, networks),
  )
  return (
    <Facts
      facts={[
        [messages.facts.size, changedAt && size.filter(Boolean).join(' · ')],
        [messages.facts.version, changedAt && <Ago key="changed" at={changedAt} />],
        [messages.facts.checked, enabled && checkedAt && <Ago key="checked" at={checkedAt} />],
        [messages.facts.overlap, shared.length > 0 ? shared.join(' · ') : null],
        [messages.facts.interval, messages.interval(intervalHours)],
        [
          messages.facts.provider,
          <a key="provider" href={homepage}>
            {provider}
          </a>,
        ],
        [
          messages.facts.terms,
          <a key="terms" href={termsUrl}>
            {terms}
          </a>,
        ],
      ]}
    />
  )
}

function UseSwitch({ feed: { id, name } }: { feed: PublicFeed }) {
  const access = useAccess()
  const queries = useQueryClient()
  const { data: settings } = useQuery(settingsQuery)
  const [error, setError] = useState('')
  if (!settings) return null
  const isUsed = settings.feeds.includes(id)

  async function change(isOn: boolean): Promise<void> {
    const next = (before: FleetSettings): FleetSettings => ({
      ...before,
      feeds: isOn ? [...before.feeds, id] : before.feeds.filter((one) => one !== id),
    })
    setError('')
    try {
      await updateOptimistically(queries, settingsQuery.queryKey, next, () =>
        fleet.change({ feeds: next(settings as FleetSettings).feeds }),
      )
    } catch (problem) {
      setError((problem as Error).message)
    }
  }

  return (
    <>
      <Switch
        {...access}
        label={messages.use}
        about={name}
        checked={isUsed}
        onChange={(isOn) => void change(isOn)}
      />
      {settings.feedsLeftOut.includes(id) && (
        <Notice tone="warn">{messages.leftOut(MAX_FEED_NETWORKS)}</Notice>
      )}
      {error && <Notice tone="bad">{error}</Notice>}
    </>
  )
}

function AdministratorActions({ feed }: { feed: PublicFeed }) {
  const { data: account } = useQuery(accountQuery)
  const queries = useQueryClient()
  const { id, name, enabled, terms, heldNetworks, networks } = feed
  if (!account?.admin) return null

  async function change(send: () => Promise<unknown>): Promise<void> {
    await send()
    await queries.invalidateQueries(feedsQuery)
  }

  return (
    <Row>
      {heldNetworks !== null && (
        <ConfirmButton
          label={messages.accept}
          about={name}
          title={messages.acceptTitle(name)}
          kind="plain"
          keep={messages.keep}
          onConfirm={() => change(() => feeds.accept(id))}
        >
          {messages.acceptText(networks, heldNetworks)}
        </ConfirmButton>
      )}
      <ConfirmButton
        label={enabled ? messages.disable : messages.enable}
        about={name}
        title={enabled ? messages.disableTitle(name) : messages.enableTitle(name)}
        kind={enabled ? 'quiet' : 'plain'}
        onConfirm={() => change(() => feeds.enable(id, !enabled))}
      >
        {enabled ? messages.disableText : messages.enableText(terms)}
      </ConfirmButton>
    </Row>
  )
}
