import { ButtonLink } from '../ui/actions/button.tsx'
import { Icon } from '../ui/brand/icons.tsx'
import type { Need } from './needs.ts'
import classes from './need-list.module.css'

/** Each with its way on. */
export function NeedList({ needs }: { needs: Need[] }) {
  return (
    <ul className={classes.needs} data-rows>
      {needs.map(({ key, tone, sentence, way, link }) => (
        <li key={key} data-tone={tone}>
          <Icon name={tone} />
          <span>{sentence}</span>
          <ButtonLink {...link} size="small">
            {way}
          </ButtonLink>
        </li>
      ))}
    </ul>
  )
}
