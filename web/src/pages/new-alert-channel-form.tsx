import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import {
  channelTypesQuery,
  type AlertChannelType,
  type CreatedAlertChannel,
} from '../alerts/api.ts'
import { CreatedChannel } from '../alerts/channels/created-channel.tsx'
import { create as messages } from '../alerts/channels/messages.ts'
import { NewChannelForm } from '../alerts/channels/new-channel-form.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page } from '../ui/layout/page.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'

export function Screen() {
  const { type: id } = useParams({ from: '/own/alerts/channels/new/$type' })
  const { data: types, error } = useQuery(channelTypesQuery)
  const type = types?.find((each) => each.id === id)
  return (
    <Page
      key={id}
      title={messages.title(type?.name ?? id)}
      lead={type?.docs}
      above={<BackLink to="/alerts/channels/new">{messages.back}</BackLink>}
    >
      <LoadingOrError there={types} error={error} lines={4} shape="form">
        {messages.loading}
      </LoadingOrError>
      {types && !type && <Notice tone="bad">{messages.unknown}</Notice>}
      {type && <Create type={type} />}
    </Page>
  )
}

function Create({ type }: { type: AlertChannelType }) {
  const [created, setCreated] = useState<CreatedAlertChannel | null>(null)
  if (created) return <CreatedChannel type={type} created={created} />
  return (
    <>
      {type.manual && (
        <p>
          {/* A tab of its own, so that nothing entered is lost. */}
          <Link to="/alerts/channels/guide/$type" params={{ type: type.id }} target="_blank">
            {messages.guide(type.name)}
          </Link>
        </p>
      )}
      <Card>
        <NewChannelForm type={type} onCreated={setCreated} />
      </Card>
    </>
  )
}
