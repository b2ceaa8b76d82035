import { Link } from '@tanstack/react-router'
import { Snippet } from '../../ui/actions/copy.tsx'
import { Section, Muted, Stack } from '../../ui/layout/page.tsx'
import { BulletList } from '../../ui/lists/bullet-list.tsx'
import type { SourceDetail } from '../api.ts'
import { advice as messages } from '../messages.ts'

/** Steps for the owner of a source, and what applies if the reader does not know the source. */
export function SourceAdviceList({
  domain,
  advice: { steps, otherwise },
}: Pick<SourceDetail, 'domain' | 'advice'>) {
  if (steps.length === 0 && otherwise === null) return null
  return (
    <Section title={messages.title}>
      {steps.length > 0 && (
        <Stack>
          {otherwise && <h3>{messages.ifYours}</h3>}
          <BulletList>
            {steps.map(({ text, publish }) => (
              <li key={text}>
                {text}
                {publish && (
                  <Snippet
                    what={messages.recordPart(publish.name, publish.value)}
                    text={publish.value}
                  />
                )}
              </li>
            ))}
          </BulletList>
          <Muted>
            {steps.length > 1 && messages.oneIsEnough}
            <Link to="/check" search={{ q: domain }}>
              {messages.checkRecords(domain)}
            </Link>
          </Muted>
        </Stack>
      )}
      {otherwise && (
        <Stack>
          {steps.length > 0 && <h3>{messages.ifUnknown}</h3>}
          <p>{otherwise}</p>
        </Stack>
      )}
    </Section>
  )
}
