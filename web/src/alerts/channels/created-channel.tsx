import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Snippet } from '../../ui/actions/copy.tsx'
import { ButtonLink } from '../../ui/actions/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Row, Section, Stack } from '../../ui/layout/page.tsx'
import { channelsQuery, type AlertChannelType, type CreatedAlertChannel } from '../api.ts'
import { ChannelCard } from './channel-card.tsx'
import { create as messages } from './messages.ts'

type CreatedChannelProps = { type: AlertChannelType; created: CreatedAlertChannel }

/** A channel right after its creation: its secret, which is shown only here, and its actions. */
export function CreatedChannel({ type, created }: CreatedChannelProps) {
  const { data: channels } = useQuery(channelsQuery)
  const notice = useRef<HTMLDivElement>(null)
  // The form with the focus is gone.
  useEffect(() => notice.current?.focus(), [])
  const { secret, ...channel } = created
  const shown = channels ? channels.find(({ id }) => id === channel.id) : channel
  return (
    <Stack>
      <div ref={notice} tabIndex={-1} role="status">
        <Notice tone="good" title={messages.created(type.name)}>
          {secret ? (
            <>
              <p>{messages.secret}</p>
              <Snippet what={messages.secretName} text={secret} />
            </>
          ) : (
            channel.status === 'active' && <p>{messages.createdHint}</p>
          )}
        </Notice>
      </div>
      <Section title={messages.yours}>{shown && <ChannelCard channel={shown} />}</Section>
      <Row>
        <ButtonLink to="/alerts/channels">{messages.all}</ButtonLink>
        <ButtonLink to="/alerts/channels/new" kind="quiet" icon="plus">
          {messages.another}
        </ButtonLink>
      </Row>
    </Stack>
  )
}
