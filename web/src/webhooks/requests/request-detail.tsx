import { AddressLink } from '../../addresses/address-link.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { loadLater } from '../../frame/load-later.tsx'
import { CopyButton } from '../../ui/actions/copy.tsx'
import { ExactTime } from '../../ui/text/date-text.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { Tabs } from '../../ui/navigation/tabs.tsx'
import { Loading } from '../../ui/feedback/loading.tsx'
import { sizeText } from '../../ui/text/format.ts'
import { bodyPath, requestQuery, type RequestDetails } from '../api.ts'
import { listBadges, MethodBadge } from './badges.tsx'
import { BodyView } from '../body/body-view.tsx'
import { parseQueryFields } from '../body/form-fields.ts'
import type { ListedRequest } from './inbox.ts'
import classes from './request-detail.module.css'
import { request as messages } from '../messages.ts'

const Compare = loadLater(
  'the comparison of requests',
  async () => (await import('./compare/compare.tsx')).Compare,
)
const SendView = loadLater(
  'the form to send a request',
  async () => (await import('./send-view.tsx')).SendView,
)
const ShareView = loadLater(
  'the links to a request',
  async () => (await import('./share-view.tsx')).ShareView,
)

export type View = 'body' | 'headers' | 'query' | 'compare' | 'send' | 'share'

/** Bytes of a surplus that the service stores. */
const STORED_SURPLUS_BYTES = 1_024

type RequestDetailProps = {
  endpointId: string
  requestId: string
  /** The one before it in the list, to compare with. */
  previousId: string | undefined
  view: View
  onView: (view: View) => void
}

/** One captured request with all details. */
export function RequestDetail({ endpointId, requestId, ...rest }: RequestDetailProps) {
  // The one before stays in place until the next is there, so that going through them does not
  // flicker.
  const { data, error } = useQuery({
    ...requestQuery(endpointId, requestId),
    placeholderData: keepPreviousData,
  })
  if (error) return <Notice tone="unknown">{error.message}</Notice>
  if (!data) return <Loading lines={6}>{messages.loading}</Loading>
  return <Detail opened={data} endpointId={endpointId} {...rest} />
}

type DetailProps = Omit<RequestDetailProps, 'requestId'> & { opened: RequestDetails }

function Detail({ opened, endpointId, previousId, view, onView }: DetailProps) {
  const { request } = opened
  const query = parseQueryFields(request.query)
  const shown = view === 'query' && query.length === 0 ? 'body' : view
  return (
    <article className={classes.detail}>
      <Head endpointId={endpointId} {...opened} />
      <Tabs<View>
        label={messages.parts}
        tabs={[
          { value: 'body', name: messages.tabs.body },
          { value: 'headers', name: messages.tabs.headers, count: request.headers.length },
          ...(query.length > 0
            ? [{ value: 'query' as const, name: messages.tabs.query, count: query.length }]
            : []),
          { value: 'compare', name: messages.tabs.compare },
          { value: 'send', name: messages.tabs.send },
          { value: 'share', name: messages.tabs.share },
        ]}
        value={shown}
        onChange={onView}
      >
        <div className={classes.view}>
          {shown === 'body' && (
            <BodyView request={request} download={bodyPath(endpointId, request.id)} />
          )}
          {shown === 'body' && request.surplus && <SurplusView surplus={request.surplus} />}
          {shown === 'headers' && <Headers request={request} />}
          {shown === 'query' && <Pairs caption={messages.tabs.query} pairs={query} />}
          {shown === 'compare' && (
            <Compare endpointId={endpointId} opened={opened} previousId={previousId} />
          )}
          {shown === 'send' && (
            <SendView key={request.id} endpointId={endpointId} request={request} />
          )}
          {shown === 'share' && <ShareView endpointId={endpointId} requestId={request.id} />}
        </div>
      </Tabs>
    </article>
  )
}

function Head({
  endpointId,
  request,
  signature,
  answer,
  curl,
}: RequestDetails & { endpointId: string }) {
  const badges = listBadges({ ...request, signature })
  return (
    <header className={classes.head}>
      <div className={classes.title}>
        <h2>
          <MethodBadge name={request.method} /> <span>{request.path || '/'}</span>
          {request.query && <Muted>?{request.query}</Muted>}
        </h2>
        {curl && <CopyButton text={curl} what={messages.curl} label={messages.copyCurl} />}
      </div>
      <p className={classes.facts}>
        <ExactTime at={request.receivedAt} />
        <span>
          {messages.from} <AddressLink address={request.ip} />
        </span>
        <span>{messages.size(sizeText(request.bodySize), request.contentType)}</span>
        <Responded request={request} />
        {answer && <span>{messages.listener(answer.status, answer.sent)}</span>}
        {request.httpVersion !== '' && <span>HTTP/{request.httpVersion}</span>}
        {request.repeatOf !== null && (
          <Link to="/hooks/$id" params={{ id: endpointId }} search={{ request: request.repeatOf }}>
            {messages.earlier}
          </Link>
        )}
      </p>
      {badges.length > 0 && (
        <ul className={classes.badges}>
          {badges.map(({ tone, word, why }) => (
            <li key={word}>
              <Status tone={tone}>{word}</Status> <Muted>{why}</Muted>
            </li>
          ))}
        </ul>
      )}
    </header>
  )
}

/** What the sender got, and the rule that chose it. */
function Responded({ request: { responseStatus, answeredBy } }: Pick<RequestDetails, 'request'>) {
  if (answeredBy === null) return <span>{messages.responded(responseStatus)}</span>
  const { label, answer, key, fault } = answeredBy
  return (
    <>
      {responseStatus !== null && <span>{messages.responded(responseStatus)}</span>}
      {fault !== null && <span>{messages.fault(fault)}</span>}
      <span>{messages.byRule(label, answer, key)}</span>
    </>
  )
}

/** The surplus bytes after the request, as far as they are stored. */
function SurplusView({
  surplus: { size, start, startEncoding },
}: {
  surplus: NonNullable<ListedRequest['surplus']>
}) {
  return (
    <section>
      <h3>{messages.surplus}</h3>
      <p>
        <Muted>
          {messages.surplusText(size, startEncoding === 'base64', STORED_SURPLUS_BYTES)}
        </Muted>
      </p>
      <pre className={classes.surplus}>{start}</pre>
    </section>
  )
}

function Headers({ request: { headers, trailers } }: { request: RequestDetails['request'] }) {
  return (
    <>
      <Pairs caption={messages.tabs.headers} pairs={headers} />
      {trailers && trailers.length > 0 && <Pairs caption={messages.trailers} pairs={trailers} />}
    </>
  )
}

/** In their order, repetitions and all. */
function Pairs({ caption, pairs }: { caption: string; pairs: [name: string, value: string][] }) {
  return (
    <Table
      caption={caption}
      quiet={caption !== messages.trailers}
      columns={[messages.name, messages.value]}
    >
      {pairs.map(([name, value], index) => (
        <tr key={index}>
          <th scope="row" className={classes.name}>
            {name}
          </th>
          <td className={classes.value}>{value}</td>
        </tr>
      ))}
    </Table>
  )
}
