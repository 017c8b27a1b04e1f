//! Sessions of Codex.

use super::random::Random;
use super::{Log, begin, quoted};
use serde_json::json;
use std::path::Path;

/// A prompt at which a session compacts.
const FULL: u64 = 220_000;

/// Writes a Codex rollout; adds its input, cached input, output and reasoning.
pub fn write(home: &Path, bytes: u64, seed: u64, truth: &mut [u64; 4]) {
    let mut random = Random(seed);
    let (session, at) = (random.uuid(), begin(&mut random));
    let began = jiff::Timestamp::from_millisecond(at).unwrap();
    let name = began.strftime("%Y/%m/%d/rollout-%Y-%m-%dT%H-%M-%S");
    let path = home
        .join(".codex/sessions")
        .join(format!("{name}-{session}.jsonl"));
    let mut log = Log::new(&path, at);
    let cwd = format!("/home/dev/proj{}", random.below(20));
    let put = |log: &mut Log, random: &mut Random, kind: &str, payload: &str| {
        log.at += (random.exponential(3.0) * 1e3) as i64;
        let at = log.timestamp();
        log.put(&format!(
            "{{\"timestamp\":\"{at}\",\"type\":\"{kind}\",\"payload\":{payload}}}"
        ));
    };
    let meta = format!(
        "{{\"id\":\"{session}\",\"timestamp\":\"{}\",\"cwd\":\"{cwd}\",\"originator\":\"codex_cli_rs\",\
         \"cli_version\":\"0.58.0\",\"instructions\":{},\"source\":\"cli\",\"model_provider\":\"openai\",\
         \"git\":{{\"commit_hash\":\"{}\",\"branch\":\"main\",\"repository_url\":\"git@example.org:dev/x.git\"}}}}",
        log.timestamp(),
        quoted(random.prose(4_000)),
        random.hex(40)
    );
    put(&mut log, &mut random, "session_meta", &meta);
    let (mut prompt, mut cached, mut total) = (9_000, 0, [0_u64; 4]);
    while log.bytes < bytes {
        let context = format!(
            "{{\"cwd\":\"{cwd}\",\"approval_policy\":\"on-request\",\"sandbox_policy\":{{\"mode\":\"workspace-write\",\
             \"network_access\":false,\"exclude_tmpdir_env_var\":false,\"exclude_slash_tmp\":false}},\
             \"model\":\"gpt-5-codex\",\"effort\":\"medium\",\"summary\":\"auto\"}}"
        );
        put(&mut log, &mut random, "turn_context", &context);
        let said = random.text(20, 1_200, Random::prose);
        prompt += said.len() as u64 / 4;
        let said = quoted(said);
        let message = format!(
            "{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":{said}}}]}}"
        );
        put(&mut log, &mut random, "response_item", &message);
        let message =
            format!("{{\"type\":\"user_message\",\"message\":{said},\"kind\":\"plain\"}}");
        put(&mut log, &mut random, "event_msg", &message);
        for _ in 0..1 + random.below(24) {
            let (mut output, mut reasoning) = (0, 0);
            if random.chance(0.6) {
                let text = quoted(random.prose(300));
                reasoning = 64 + random.below(836);
                let event = format!("{{\"type\":\"agent_reasoning\",\"text\":{text}}}");
                put(&mut log, &mut random, "event_msg", &event);
                let bytes = 600 + random.below(3_400);
                let item = format!(
                    "{{\"type\":\"reasoning\",\"summary\":[{{\"type\":\"summary_text\",\"text\":{text}}}],\
                     \"content\":null,\"encrypted_content\":\"{}\"}}",
                    random.base64(bytes)
                );
                put(&mut log, &mut random, "response_item", &item);
            }
            if random.chance(0.3) {
                let text = random.text(50, 1_500, Random::prose);
                output += text.len() as u64 / 4;
                let text = quoted(text);
                let event = format!("{{\"type\":\"agent_message\",\"message\":{text}}}");
                put(&mut log, &mut random, "event_msg", &event);
                let item = format!(
                    "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{{\"type\":\"output_text\",\
                     \"text\":{text}}}]}}"
                );
                put(&mut log, &mut random, "response_item", &item);
            }
            let script = random.text(20, 600, Random::code);
            let arguments =
                json!({ "command": ["bash", "-lc", script], "workdir": cwd }).to_string();
            output += arguments.len() as u64 / 4 + reasoning;
            let call = random.id("call_", 24);
            let item = format!(
                "{{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":{},\"call_id\":\"{call}\"}}",
                quoted(&arguments)
            );
            put(&mut log, &mut random, "response_item", &item);
            let last = [prompt, cached, output, reasoning];
            for (sum, of) in total.iter_mut().zip(last) {
                *sum += of;
            }
            cached = prompt;
            prompt += output;
            let count = format!(
                "{{\"type\":\"token_count\",\"info\":{{\"total_token_usage\":{},\"last_token_usage\":{},\
                 \"model_context_window\":272000}},\"rate_limits\":{{\"primary\":{{\"used_percent\":4.0,\
                 \"window_minutes\":300,\"resets_at\":1760000000}},\"secondary\":{{\"used_percent\":9.0,\
                 \"window_minutes\":10080,\"resets_at\":1760000000}}}}}}",
                usage(total),
                usage(last)
            );
            let times = if random.chance(0.7) { 1 } else { 2 };
            for _ in 0..times {
                put(&mut log, &mut random, "event_msg", &count);
            }
            let size = random.result_size();
            let text = random.code(size);
            prompt += (text.len().min(40_000) as f64 / 3.6) as u64;
            let shown =
                json!({ "output": text, "metadata": { "exit_code": 0, "duration_seconds": 0.3 } });
            let item = format!(
                "{{\"type\":\"function_call_output\",\"call_id\":\"{call}\",\"output\":{}}}",
                quoted(&shown.to_string())
            );
            put(&mut log, &mut random, "response_item", &item);
            if prompt > FULL {
                let summary = format!("{{\"message\":{}}}", quoted(random.prose(3_000)));
                put(&mut log, &mut random, "compacted", &summary);
                put(
                    &mut log,
                    &mut random,
                    "event_msg",
                    "{\"type\":\"context_compacted\"}",
                );
                (prompt, cached) = (15_000, 8_000);
            }
            if log.bytes >= bytes {
                break;
            }
        }
    }
    log.close();
    for (sum, of) in truth.iter_mut().zip(total) {
        *sum += of;
    }
}

fn usage([input, cached, output, reasoning]: [u64; 4]) -> String {
    format!(
        "{{\"input_tokens\":{input},\"cached_input_tokens\":{cached},\"output_tokens\":{output},\
         \"reasoning_output_tokens\":{reasoning},\"total_tokens\":{}}}",
        input + output
    )
}
