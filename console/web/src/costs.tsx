import { useEffect, useState } from "preact/hooks";
import type { Costs, Sums } from "./types";
import { threads } from "./api";
import { Modal } from "./dialog";
import { words } from "./talk";
import { Name } from "./voice";
import { t } from "./strings";

/** CostsOf shows what a thread has cost, by member; what is not known is said. */
export function CostsOf({ thread, onClose }: { thread: string; onClose: () => void }) {
  const [costs, setCosts] = useState<Costs | null>(null);
  const [fault, setFault] = useState("");
  useEffect(() => void threads.costs(thread).then(setCosts, (err) => setFault(words(err))), [thread]);
  const total = costs?.total;
  return (
    <Modal label={t.costs} onClose={onClose}>
      <h2>{t.costs}</h2>
      {fault && <p role="alert" class="notice bad">{fault}</p>}
      {costs && !total?.answers && <p class="hint">{t.costsNone}</p>}
      {costs && !!total?.answers && (
        <div class="text scroll" tabIndex={0} role="group" aria-label={t.costs}>
          <table>
            <thead><tr>{t.costsHead.map((h) => <th key={h} scope="col">{h}</th>)}</tr></thead>
            <tbody>
              {Object.entries(costs.members).map(([name, sums]) => <tr key={name}><th scope="row"><Name name={name} /></th><Cells of={sums} /></tr>)}
              <tr><th scope="row">{t.costsTotal}</th><Cells of={total} /></tr>
            </tbody>
          </table>
        </div>
      )}
      {!!total?.unknown_tokens && <p class="hint">{t.costsLess(total.unknown_tokens, "size")}</p>}
      {!!total?.unknown_cost && <p class="hint">{t.costsLess(total.unknown_cost, "cost")}</p>}
      <div class="choices"><button type="button" autoFocus onClick={onClose}>{t.close}</button></div>
    </Modal>
  );
}

function Cells({ of: s }: { of: Sums }) {
  const known = (missing: number | undefined, words: string) => (missing && missing >= s.answers ? "–" : words);
  return (
    <>
      <td>{s.answers}</td>
      <td>{known(s.unknown_tokens, s.input_tokens.toLocaleString("en"))}</td>
      <td>{known(s.unknown_tokens, s.output_tokens.toLocaleString("en"))}</td>
      <td>{known(s.unknown_cost, t.cost(s.cost_usd))}</td>
    </>
  );
}
