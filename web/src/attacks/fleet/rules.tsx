import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../ui/actions/button.tsx'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Row, Section } from '../../ui/layout/page.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { fleet, FLEET_KEY, settingsQuery, type FleetRule, type FleetSettings } from './api.ts'
import { rules as messages } from './messages.ts'
import { RuleForm } from './rule-form.tsx'

const MAX_RULES = 20

/** When a report bans an address, and for how long. The first rule that names its service counts. */
export function Rules() {
  const { data, error } = useQuery(settingsQuery)
  return (
    <Section title={messages.title}>
      <LoadingOrError there={data} error={error} lines={2}>
        {messages.loading}
      </LoadingOrError>
      {data && <RuleList {...data} />}
    </Section>
  )
}

function RuleList({ rules, hasOwnRules }: FleetSettings) {
  const access = useAccess()
  const queries = useQueryClient()

  async function save(changed: FleetRule[] | null): Promise<void> {
    await fleet.change({ rules: changed })
    await queries.invalidateQueries({ queryKey: FLEET_KEY })
  }

  return (
    <>
      {rules.length === 0 && <p>{messages.none}</p>}
      {rules.length > 1 && <p>{messages.order}</p>}
      {rules.map((rule, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- A rule is its place in the list.
        <Disclosure key={at} summary={messages.text(rule)}>
          <RuleForm
            rule={rule}
            submit={messages.submit}
            onSave={(changed) => save(rules.with(at, changed))}
          />
          <Row>
            <Button
              {...access}
              kind="quiet"
              disabled={at === 0}
              onClick={() => void save(movedUp(rules, at))}
            >
              {messages.moveUp}
            </Button>
            <Button {...access} kind="quiet" onClick={() => void save(rules.toSpliced(at, 1))}>
              {messages.remove}
            </Button>
          </Row>
        </Disclosure>
      ))}
      {rules.length < MAX_RULES && (
        <Disclosure summary={messages.add}>
          <RuleForm
            key={rules.length}
            rule={NEW_RULE}
            submit={messages.addSubmit}
            onSave={(added) => save([added, ...rules])}
          />
        </Disclosure>
      )}
      {hasOwnRules && (
        <div>
          <Button {...access} kind="quiet" onClick={() => void save(null)}>
            {messages.restore}
          </Button>
        </div>
      )}
    </>
  )
}

const NEW_RULE: FleetRule = {
  services: [],
  minCount: 1,
  windowSeconds: 600,
  banSeconds: 4 * 3_600,
  growth: 4,
  maxBanSeconds: 7 * 86_400,
}

function movedUp(rules: FleetRule[], at: number): FleetRule[] {
  const rule = rules[at]
  return rule && at > 0 ? rules.toSpliced(at, 1).toSpliced(at - 1, 0, rule) : rules
}
