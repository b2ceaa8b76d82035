import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Loading } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Muted, Page, Section } from '../ui/layout/page.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Table } from '../ui/lists/table.tsx'
import { DateText, ExactTime } from '../ui/text/date-text.tsx'
import { sizeText } from '../ui/text/format.ts'
import { sharedRequestQuery, type SharedRequest } from '../webhooks/api.ts'
import classes from '../webhooks/body/code.module.css'
import { sharedRequest as messages } from '../webhooks/messages.ts'

/** A captured request that a workspace shares by its link. */
export function Screen() {
  const { token } = useParams({ from: '/open/shared-webhook-requests/$token' })
  const { data: request, error } = useQuery(sharedRequestQuery(token))
  if (error)
    return (
      <Page title={messages.notFound} lead={error.message}>
        <p>
          <Link to="/">{messages.home}</Link>
        </p>
      </Page>
    )
  if (!request) return <Loading lines={5}>{messages.loading}</Loading>
  return (
    <Page title={`${request.method} ${request.path || '/'}`}>
      <Notice tone="info">
        {messages.expires} <DateText at={request.expiresAt} />.{' '}
        {request.redacted.length > 0 && messages.redacted(request.redacted)}
      </Notice>
      <Facts
        facts={[
          [messages.received, <ExactTime key="at" at={request.receivedAt} />],
          [messages.query, request.query],
          [messages.size, sizeText(request.bodySize)],
          [messages.type, request.contentType ?? ''],
        ]}
      />
      <Section title={messages.headers}>
        <Table caption={messages.headers} quiet columns={[messages.name, messages.value]}>
          {request.headers.map(([name, value], index) => (
            <tr key={index}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </Table>
      </Section>
      <Section title={messages.body}>
        <Card>
          <Body request={request} />
        </Card>
      </Section>
    </Page>
  )
}

function Body({ request: { body, bodyEncoding } }: { request: SharedRequest }) {
  if (body === null) return <Muted>{messages.hidden}</Muted>
  if (body === '') return <Muted>{messages.empty}</Muted>
  return (
    <>
      {bodyEncoding === 'base64' && <Muted>{messages.base64}</Muted>}
      <pre className={classes.code}>{body}</pre>
    </>
  )
}
