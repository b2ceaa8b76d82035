import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { addressOverviewQuery, type AddressOverview } from '../addresses/api.ts'
import { address as messages } from '../addresses/messages.ts'
import { AddressReportsView } from '../attacks/address-panel.tsx'
import { useLabels } from '../attacks/use-labels.ts'
import { serviceUrl } from '../base-path.ts'
import { CheckPanel } from '../check/check-panel.tsx'
import { DelistAction, MonitorAction } from '../check/follow-up-actions.tsx'
import { blacklistKind } from '../check/kinds/blacklist-kind.tsx'
import { ShareBar } from '../check/share-bar.tsx'
import { list as delistingMessages } from '../delisting/messages.ts'
import { shareText } from '../dmarc/share-text.ts'
import { hosts as hostMessages, hostState, LISTING_STATES } from '../monitoring/messages.ts'
import { ButtonLink } from '../ui/actions/button.tsx'
import { CopyButton } from '../ui/actions/copy.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Card, Muted, Page, Row, Section, Stack } from '../ui/layout/page.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Table } from '../ui/lists/table.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Ago, Remaining } from '../ui/text/ago.tsx'
import { utcDayText } from '../ui/text/dates.ts'
import { numberText } from '../ui/text/format.ts'

/** All that is known of an address: from the own tables at once, then from the blocklists. */
export function Screen() {
  const { ip } = useParams({ from: '/own/addresses/$ip' })
  const { data, error } = useQuery(addressOverviewQuery(ip))
  return (
    <Page
      wide
      title={data?.ip ?? ip}
      above={<BackLink to="/monitoring">{hostMessages.title}</BackLink>}
      rail={error ? undefined : data ? <About data={data} /> : null}
    >
      <LoadingOrError there={data} error={error} lines={6}>
        {messages.loading}
      </LoadingOrError>
      {data && <Known key={data.ip} data={data} />}
    </Page>
  )
}

type PartProps = { data: AddressOverview }

function Known({ data }: PartProps) {
  const { ip, sends, hosts, listings, reports, next } = data
  const isBad = next.some(({ step }) => step !== 'monitor')
  // The next steps have the button already.
  const isDelisted = next.some(({ step }) => step === 'delist' || step === 'continue-delisting')
  return (
    <>
      <div role="status">
        <Notice tone={isBad ? 'warn' : 'info'}>
          <strong>{messages.verdict(data)}</strong>
          {next.length > 0 && <NextSteps data={data} />}
        </Notice>
      </div>
      {isIpv4(ip) ? (
        <ShareBar target={{ kind: 'address', name: ip }}>
          <MonitorAction host={ip} />
          {!isDelisted && <DelistAction ip={ip} />}
        </ShareBar>
      ) : (
        <div>
          <MonitorAction host={ip} />
        </div>
      )}
      {sends && sends.length > 0 && <Sends ip={ip} sends={sends} />}
      {hosts && hosts.length > 0 && <Hosts hosts={hosts} />}
      {listings && listings.length > 0 && <Listings listings={listings} />}
      <Fleet data={data} />
      {reports && (
        <Section title={messages.attacks}>
          <Card>
            <AddressReportsView data={reports}>
              <CopyButton
                what={messages.publicPage}
                label={messages.copyPublicPage}
                text={`${serviceUrl()}/address?ip=${encodeURIComponent(ip)}`}
              />
            </AddressReportsView>
          </Card>
        </Section>
      )}
      {isIpv4(ip) ? (
        <CheckPanel kind={blacklistKind} target={ip} />
      ) : (
        <Section title={messages.blocklists}>
          <Muted>{messages.onlyIpv4}</Muted>
        </Section>
      )}
    </>
  )
}

/** Blocklists are checked for these addresses alone. */
const isIpv4 = (ip: string) => !ip.includes(':')

function NextSteps({ data: { ip, next, sends } }: PartProps) {
  return (
    <Row>
      {next.map(({ step, id }) => {
        const label = messages.steps[step]
        const key = `${step} ${id}`
        if (step === 'delist')
          return (
            <ButtonLink key={key} size="small" to="/delisting/new" search={{ ip }}>
              {label}
            </ButtonLink>
          )
        if (step === 'continue-delisting')
          return (
            <ButtonLink key={key} size="small" to="/delisting/$id" params={{ id: id ?? '' }}>
              {label}
            </ButtonLink>
          )
        if (step === 'unban')
          return (
            <ButtonLink key={key} size="small" to="/attacks/fleet">
              {label}
            </ButtonLink>
          )
        if (step === 'appeal')
          return (
            <ButtonLink key={key} size="small" to="/address" search={{ ip }}>
              {label}
            </ButtonLink>
          )
        if (step === 'decide-sender')
          return (
            <ButtonLink key={key} size="small" to="/dmarc/$id" params={{ id: id ?? '' }}>
              {messages.decide(sends?.find(({ domainId }) => domainId === id)?.domain ?? '')}
            </ButtonLink>
          )
        return <Muted key={key}>{label}</Muted>
      })}
    </Row>
  )
}

function Sends({ ip, sends }: { ip: string; sends: NonNullable<AddressOverview['sends']> }) {
  return (
    <Section title={messages.sendsTitle}>
      <Table caption={messages.sendsTitle} quiet columns={messages.sendsColumns}>
        {sends.map(({ domainId, domain, source, messages: count, passed, firstDay, lastDay }) => (
          <tr key={`${domainId} ${source}`}>
            <th scope="row">
              <Link
                to="/dmarc/$id/sources/$address"
                params={{ id: domainId, address: source }}
                search={{ days: 365 }}
              >
                {domain}
              </Link>
              {source !== ip && <small>{messages.source(source)}</small>}
            </th>
            <td>{numberText(count)}</td>
            <td>{shareText(passed, count)}</td>
            <td>
              {firstDay === lastDay
                ? utcDayText(lastDay)
                : `${utcDayText(firstDay)} – ${utcDayText(lastDay)}`}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}

function Hosts({ hosts }: { hosts: NonNullable<AddressOverview['hosts']> }) {
  return (
    <Section title={messages.hosts}>
      <Table caption={messages.hosts} quiet columns={messages.hostColumns}>
        {hosts.map(({ id, host, label, status, lastCheckAt }) => {
          const { tone, word } = hostState({ status })
          return (
            <tr key={id}>
              <th scope="row">
                <Link to="/monitoring/$id" params={{ id }}>
                  {host}
                </Link>
                {label && <small>{label}</small>}
              </th>
              <td>
                <Status tone={tone}>{word}</Status>
              </td>
              <td>{lastCheckAt ? <Ago at={lastCheckAt} /> : hostMessages.notChecked}</td>
            </tr>
          )
        })}
      </Table>
    </Section>
  )
}

function Listings({ listings }: { listings: NonNullable<AddressOverview['listings']> }) {
  return (
    <Section title={messages.listings}>
      <Table caption={messages.listings} quiet columns={messages.listingColumns}>
        {listings.map(({ ip, name, dnsbl, category, state, meanings, codes, reason, since }) => (
          <tr key={`${ip} ${dnsbl}`}>
            <th scope="row">
              {name}
              <small>{`${category} · ${ip}`}</small>
            </th>
            <td>
              <Status tone={LISTING_STATES[state].tone}>{LISTING_STATES[state].word}</Status>
              <small>
                {messages.since} <Ago at={since} />
              </small>
            </td>
            <td>
              {meanings.join('. ') || codes.join(', ')}
              {reason && <small>{reason}</small>}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}

/** Bans and reports of the workspace’s own servers. */
function Fleet({ data: { fleet } }: PartProps) {
  const labelOf = useLabels()
  if (!fleet) return null
  const { ban, reports, allowed, server } = fleet
  if (!ban && !allowed && !server && reports.length === 0) return null
  return (
    <Section title={messages.servers}>
      <Facts
        facts={[
          [messages.banned, ban && <Ban key="ban" ban={ban} />],
          [
            messages.allowed,
            allowed && [allowed.network, allowed.label].filter(Boolean).join(' · '),
          ],
          [messages.server, server && (server.label || messages.unnamedServer)],
        ]}
      />
      {reports.length > 0 && (
        <Table caption={messages.reportsTitle} columns={messages.reportColumns}>
          {reports.map(({ server: name, service, count, at }, index) => (
            <tr key={index}>
              <th scope="row">{name || messages.unnamedServer}</th>
              <td>{labelOf(service)}</td>
              <td>{numberText(count)}</td>
              <td>
                <Ago at={at} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  )
}

type BanProps = { ban: NonNullable<NonNullable<AddressOverview['fleet']>['ban']> }

function Ban({ ban: { expiresAt, bans, reason } }: BanProps): ReactNode {
  return (
    <>
      {expiresAt ? (
        <>
          {messages.banEnds} <Remaining at={expiresAt} />
        </>
      ) : (
        messages.notBanned
      )}
      {` · ${[messages.bans(bans), reason].filter(Boolean).join(' · ')}`}
    </>
  )
}

function About({ data }: PartProps) {
  const { ip, network, isYours, system, abuseContact, sends, watchedNetworks, delistings } = data
  const reverseName = sends?.find((use) => use.source === ip)?.reverseName ?? null
  return (
    <Stack>
      {isYours && <Status tone="good">{messages.yours}</Status>}
      <Facts
        facts={[
          [messages.network, network === ip ? null : network],
          [messages.reverseName, reverseName],
          [messages.system, system && messages.systemText(system.number, system.name)],
          [messages.contact, abuseContact?.email],
          [
            messages.watched,
            watchedNetworks && watchedNetworks.length > 0 && (
              <Row key="watched">
                {watchedNetworks.map(({ id, network: watched, label }) => (
                  <Link key={id} to="/attacks/networks/$id" params={{ id }}>
                    {label || watched}
                  </Link>
                ))}
              </Row>
            ),
          ],
          [
            messages.delisting,
            delistings && delistings.length > 0 && (
              <Stack key="delistings">
                {delistings.map(({ id, status, createdAt }) => (
                  <span key={id}>
                    <Link to="/delisting/$id" params={{ id }}>
                      {delistingMessages.statuses[status]}
                    </Link>{' '}
                    <Ago at={createdAt} />
                  </span>
                ))}
              </Stack>
            ),
          ],
        ]}
      />
    </Stack>
  )
}
