import { Link } from '@tanstack/react-router'
import { Snippet } from '../../ui/actions/copy.tsx'
import { BulletList } from '../../ui/lists/bullet-list.tsx'
import { Section, Muted, Stack } from '../../ui/layout/page.tsx'
import type { SourceDetail } from '../api.ts'

/** What to do about a source, for whom it belongs to and for whom it does not. */
export function SourceAdvice({ domain, advice: { steps, otherwise } }: Pick<SourceDetail, 'domain' | 'advice'>) {
  if (steps.length === 0 && otherwise === null) return null
  return (
    <Section title="What to do">
      {steps.length > 0 && (
        <Stack>
          {otherwise && <h3>If it is yours, or a service you use</h3>}
          <BulletList>
            {steps.map(({ text, publish }) => (
              <li key={text}>
                {text}
                {publish && <Snippet what={`what belongs into the record of ${publish.name}`} text={publish.value} />}
              </li>
            ))}
          </BulletList>
          <Muted>
            {steps.length > 1 && 'One of the two is enough to pass; DKIM also holds where mail is passed on. '}
            <Link to="/check" search={{ q: domain }}>
              Check the records of {domain}
            </Link>
          </Muted>
        </Stack>
      )}
      {otherwise && (
        <Stack>
          {steps.length > 0 && <h3>If you do not know it</h3>}
          <p>{otherwise}</p>
        </Stack>
      )}
    </Section>
  )
}
