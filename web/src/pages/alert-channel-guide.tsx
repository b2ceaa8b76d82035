import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { channelTypesQuery, type AlertChannelType, type ChannelField } from '../alerts/api.ts'
import { create, guide as messages, picker } from '../alerts/channels/messages.ts'
import { ButtonLink } from '../ui/actions/button.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Section } from '../ui/layout/page.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { useAccess } from '../workspaces/roles.ts'

/** The same as docs/channels has about a service, of the version that is running. */
export function Screen() {
  const { type: id } = useParams({ from: '/own/alerts/channels/guide/$type' })
  const access = useAccess()
  const { data: types, error } = useQuery(channelTypesQuery)
  const type = types?.find((each) => each.id === id)
  return (
    <Page
      title={messages.title(type?.name ?? id)}
      above={<BackLink to="/alerts/channels/new">{create.back}</BackLink>}
      aside={
        type && (
          <ButtonLink {...access} to="/alerts/channels/new/$type" params={{ type: id }}>
            {messages.create}
          </ButtonLink>
        )
      }
    >
      <LoadingOrError there={types} error={error} lines={4}>
        {picker.loading}
      </LoadingOrError>
      {types && !type && <Notice tone="bad">{create.unknown}</Notice>}
      {type && <Guide type={type} />}
    </Page>
  )
}

function Guide({ type: { docs, fields, manual } }: { type: AlertChannelType }) {
  return (
    <>
      <Section title={messages.setup}>
        <p>{docs}</p>
      </Section>
      <Section title={messages.settings}>
        <Facts facts={fields.map((field) => [field.label, describeField(field)])} />
      </Section>
      {manual && (
        <Section title={messages.behavior}>
          <Facts
            facts={[
              [messages.ending, manual.ending],
              [messages.limits, messages.limitsText(manual.limits)],
              [messages.disabling, manual.disabling],
            ]}
          />
        </Section>
      )}
    </>
  )
}

function describeField({ help, default: value, choices, required, secret }: ChannelField): string {
  const notes = [
    required ? null : messages.optional,
    help,
    choices && messages.choices(choices),
    value && messages.default(value),
    secret && messages.secret,
  ]
  return notes.filter(Boolean).join(' ')
}
