import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { TitledCard } from '../../ui/layout/titled-card.tsx'
import { Facts } from '../../ui/lists/facts.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { channelTypesQuery, type AlertChannelType, type Channel } from '../api.ts'
import { targetOf } from '../targets.ts'
import { ChannelActions } from './channel-actions.tsx'
import { ConfirmationCode } from './confirmation-code.tsx'
import { EditForm } from './edit-form.tsx'
import {
  channel as messages,
  channelState,
  describeKinds,
  describeQuietHours,
  sending,
} from './messages.ts'
import { TestOutcome, type TestState } from './test-outcome.tsx'

/** A channel with its status, settings and actions. */
export function ChannelCard({ channel }: { channel: Channel }) {
  const { data: types = [] } = useQuery(channelTypesQuery)
  const type = types.find(({ id }) => id === channel.type)
  const [isChanging, setChanging] = useState(false)
  const [tested, setTested] = useState<TestState>(null)
  const actions = useRef<HTMLDivElement>(null)
  const { problem, status } = channel
  const { tone, word } = channelState(channel)

  /** The form takes the focus with it. */
  function stopChanging(): void {
    setChanging(false)
    actions.current?.focus()
  }

  return (
    <TitledCard title={targetOf(channel)} aside={<Status tone={tone}>{word}</Status>}>
      {problem && (
        <Notice tone="warn">
          <p>{problem}</p>
          {status === 'disabled' && <p>{messages.disabledHint}</p>}
        </Notice>
      )}
      {status === 'unconfirmed' && <ConfirmationCode channel={channel} />}
      <ChannelFacts channel={channel} type={type} />
      {isChanging && type && <EditForm channel={channel} type={type} onDone={stopChanging} />}
      <div ref={actions} tabIndex={-1}>
        <ChannelActions
          channel={channel}
          isChanging={isChanging}
          onChange={() => setChanging(!isChanging)}
          onTested={setTested}
        />
      </div>
      <TestOutcome state={tested} type={type} />
    </TitledCard>
  )
}

type ChannelFactsProps = { channel: Channel; type: AlertChannelType | undefined }

function ChannelFacts({ channel, type }: ChannelFactsProps) {
  const { label, kinds, minSeverity, quietHours, criticalAnytime } = channel
  const { failingSince, waiting, lastSentAt } = channel
  const { facts } = messages
  return (
    <Facts
      facts={[
        [facts.service, type?.name],
        [facts.label, label],
        ...settingsOf(channel, type),
        [facts.events, describeKinds(kinds)],
        [facts.severity, minSeverity && sending.severities[minSeverity]],
        [facts.quietHours, describeQuietHours(quietHours, criticalAnytime)],
        [facts.failingSince, failingSince && <Ago key="failing" at={failingSince} />],
        [facts.waiting, waiting > 0 && messages.waiting(waiting)],
        [facts.lastSent, lastSentAt && <Ago key="sent" at={lastSentAt} />],
      ]}
    />
  )
}

/** The settings of a service, secrets as the API masks them. */
function settingsOf({ settings }: Channel, type: AlertChannelType | undefined): [string, string][] {
  if (settings === null || !type) return []
  return type.fields
    .filter(({ multiline }) => !multiline)
    .flatMap(({ name, label }) => (settings[name] ? [[label, settings[name]]] : []))
}
