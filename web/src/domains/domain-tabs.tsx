import {
  EXACT_PATH,
  SubNavigation,
  SubNavigationLink,
  SubNavigationOutline,
} from '../ui/navigation/sub-navigation.tsx'
import { tabs as messages } from './messages.ts'

type DomainTabsProps = {
  domain: string
  /** The DMARC domain; null if the workspace receives no reports for it, undefined until that is known. */
  id: string | null | undefined
}

/** The screens of a domain. */
export function DomainTabs({ domain, id }: DomainTabsProps) {
  return (
    <SubNavigation label={domain}>
      <SubNavigationLink to="/domains/$domain" params={{ domain }} activeOptions={EXACT_PATH}>
        {messages.health}
      </SubNavigationLink>
      {id === undefined &&
        [messages.dmarc, messages.reports, messages.tls, messages.record].map((label) => (
          <SubNavigationOutline key={label} label={label} />
        ))}
      {typeof id === 'string' && (
        <>
          <SubNavigationLink to="/dmarc/$id" params={{ id }} activeOptions={EXACT_PATH}>
            {messages.dmarc}
          </SubNavigationLink>
          <SubNavigationLink to="/dmarc/$id/reports" params={{ id }}>
            {messages.reports}
          </SubNavigationLink>
          <SubNavigationLink to="/dmarc/$id/tls" params={{ id }}>
            {messages.tls}
          </SubNavigationLink>
          <SubNavigationLink to="/dmarc/$id/record" params={{ id }}>
            {messages.record}
          </SubNavigationLink>
        </>
      )}
      <SubNavigationLink to="/domains/$domain/deliverability" params={{ domain }}>
        {messages.deliverability}
      </SubNavigationLink>
      <SubNavigationLink to="/monitoring" search={{ q: domain }}>
        {messages.hosts}
      </SubNavigationLink>
    </SubNavigation>
  )
}
