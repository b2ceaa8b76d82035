import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CheckBox } from '../check/check-box.tsx'
import { curlOf } from '../check/curl.ts'
import { accountQuery, tokensQuery } from '../queries.ts'
import { Snippet } from '../ui/copy.tsx'
import { Page, Section, Soft, Stack } from '../ui/page.tsx'

export function Screen() {
  const { data: account } = useQuery(accountQuery)
  const domain = account?.email.split('@')[1] ?? 'example.com'
  return (
    <Page title={account?.name ? `Good to see you, ${account.name}` : 'Good to see you'}>
      <Stack>
        <CheckBox />
        <p>
          <Soft>
            A domain is checked for its mail protection, its certificate and its DNS records; an IPv4 address on more
            than 80 blacklists. Begin with your own:
          </Soft>{' '}
          <Link to="/check" search={{ q: domain }}>
            {domain}
          </Link>
        </p>
      </Stack>
      <Section title="From your programs">
        <TokenCount />
        <Snippet what="the command" text={curlOf(`/api/v1/dmarc-check?domain=${domain}`)} />
      </Section>
      <Section title="At a terminal">
        <p>
          <Soft>Where Portreeve is installed, with no server and no token:</Soft>
        </p>
        <Snippet what="the command" text={`npx portreeve check dmarc ${domain}`} />
      </Section>
    </Page>
  )
}

/** How far the person came with using the API. */
function TokenCount() {
  const { data: tokens } = useQuery(tokensQuery)
  const count = tokens?.length ?? 0
  return (
    <p>
      <Soft>
        The checks are also an API, described in its <a href="/docs">documentation</a>. It takes a token
        {count > 0 && `, of which you have ${count}`}:
      </Soft>{' '}
      <Link to="/tokens">{count > 0 ? 'see your tokens' : 'make your first'}</Link>
    </p>
  )
}
