import { useQueryClient } from '@tanstack/react-query'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { Empty } from '../../ui/feedback/empty.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Card, Row, Section, Stack } from '../../ui/layout/page.tsx'
import { Facts } from '../../ui/lists/facts.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { federation, peersQuery, type Peer } from './api.ts'
import { Fingerprint } from './fingerprint.tsx'
import { federation as messages, REFUSALS, STATES } from './messages.ts'

/** The peers with their states; those that need a decision come first. */
export function PeerCards({ peers }: { peers: Peer[] }) {
  return (
    <Section title={messages.peers}>
      {peers.length === 0 ? (
        <Empty icon="globe" title={messages.empty}>
          <p>{messages.emptyText}</p>
        </Empty>
      ) : (
        <Stack rows>
          {peers.map((peer) => (
            <PeerCard key={peer.id} {...peer} />
          ))}
        </Stack>
      )}
    </Section>
  )
}

function PeerCard(peer: Peer) {
  const { name, url, status, fingerprint, offeredFingerprint, problem, refusal } = peer
  const { tone, word, text } = STATES[status]
  return (
    <Card>
      <Stack>
        <h3>{name}</h3>
        {problem && (status === 'active' || status === 'waiting') ? (
          <Notice tone="warn" title={messages.failed}>
            {problem}
          </Notice>
        ) : (
          <Notice tone={tone} title={word}>
            {[refusal && REFUSALS[refusal], peer.refusalDetail, text].filter(Boolean).join(' ')}
          </Notice>
        )}
        <Facts
          facts={[
            [messages.url, <code key="url">{url}</code>],
            [messages.fingerprint, <Fingerprint key="fingerprint" value={fingerprint} />],
            [
              messages.newFingerprint,
              offeredFingerprint && <Fingerprint key="offered" value={offeredFingerprint} />,
            ],
            [
              messages.lastContact,
              peer.lastContactAt ? <Ago key="last" at={peer.lastContactAt} /> : messages.never,
            ],
            [messages.received, messages.receivedText(peer)],
            [messages.sent, messages.items(peer.sent)],
          ]}
        />
        <Actions {...peer} />
      </Stack>
    </Card>
  )
}

const NEEDS_APPROVAL = new Set<Peer['status']>([
  'proposed',
  'requested',
  'refused',
  'key_changed',
  'ended',
  'declined',
])

function Actions({ id, name, status, fingerprint, offeredFingerprint }: Peer) {
  const queries = useQueryClient()
  const offered = offeredFingerprint ?? fingerprint

  async function approve(): Promise<void> {
    await federation.approve(id, offered)
    await queries.invalidateQueries(peersQuery)
  }

  async function end(): Promise<void> {
    await federation.end(id)
    await queries.invalidateQueries(peersQuery)
  }

  const ending = endingOf(status)
  return (
    <Row>
      {NEEDS_APPROVAL.has(status) && (
        <ConfirmButton
          label={messages.approve}
          about={name}
          title={messages.approveTitle(name)}
          kind="plain"
          keep={messages.later}
          onConfirm={approve}
        >
          <p>{messages.approveText}</p>
          <p>
            <Fingerprint value={offered} />
          </p>
        </ConfirmButton>
      )}
      {ending && (
        <ConfirmButton
          label={ending.label}
          about={name}
          title={ending.title(name)}
          keep={messages.keep}
          onConfirm={end}
        >
          {ending.text}
        </ConfirmButton>
      )}
    </Row>
  )
}

/** What ends a peering is called by what there is to end. */
function endingOf(status: Peer['status']) {
  const { decline, declineTitle, declineText, remove, removeTitle, removeText } = messages
  if (status === 'ending') return null
  if (status === 'requested') return { label: decline, title: declineTitle, text: declineText }
  if (status === 'proposed' || status === 'declined' || status === 'ended')
    return { label: remove, title: removeTitle, text: removeText }
  return { label: messages.end, title: messages.endTitle, text: messages.endText }
}
